// Package integration is the proof: the rules of the house (who may import whom,
// what every package owes its reader, what starting up may cost) and the tests
// that run leadlight as a whole against real terminals, real processes and real
// crashes. It holds no code of the product, and nothing imports it.
//
// The folder cases holds the program behind `make cases`.
package integration
