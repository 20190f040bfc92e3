// Package hooks knows who may object: the operator's programs, which are asked
// when a teammate goes idle, when a task is about to be completed and when one is
// made; and the table of what a lead in delegate mode may do itself.
//
// It runs programs and reads answers. What an objection leads to is the business
// of the packages above.
package hooks
