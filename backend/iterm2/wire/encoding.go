package wire

import (
	"encoding/binary"
	"errors"
)

// The encoding, as https://protobuf.dev/programming-guides/encoding describes it. The
// library for it reads eight pieces of the program's own file at every start of the
// program, whatever the verb.
const (
	varintType = iota
	fixed64Type
	bytesType
	groupType // it is over at an endType of the same number
	endType
	fixed32Type
)

const maxNumber = 1<<29 - 1 // of a field

var (
	errCut = errors.New("it ends in the middle of a value, or a number is too long")
	errTag = errors.New("it has a tag that cannot be")
)

// value is what a field holds: bytes where the type says so, else a number.
type value struct {
	typ    int
	number uint64
	bytes  []byte
}

func appendTag(b []byte, num, typ int) []byte {
	return binary.AppendUvarint(b, uint64(num)<<3|uint64(typ))
}

func appendNumber(b []byte, num int, x uint64) []byte {
	return binary.AppendUvarint(appendTag(b, num, varintType), x)
}

func appendText(b []byte, num int, text string) []byte {
	return append(binary.AppendUvarint(appendTag(b, num, bytesType), uint64(len(text))), text...)
}

// cutTag takes the number and the type of a field off data.
func cutTag(data []byte) (num, typ int, rest []byte, err error) {
	x, n := binary.Uvarint(data)
	if n <= 0 {
		return 0, 0, nil, errCut
	}
	if x>>3 < 1 || x>>3 > maxNumber {
		return 0, 0, nil, errTag
	}
	return int(x >> 3), int(x & 7), data[n:], nil
}

// cutValue takes the value of a field off data. That of a group, which nobody sends any
// more, is left out.
func cutValue(num, typ int, data []byte, depth int) (got value, rest []byte, err error) {
	got.typ = typ
	size := uint64(0)
	switch typ {
	case varintType, bytesType:
		x, n := binary.Uvarint(data)
		if n <= 0 {
			return got, nil, errCut
		}
		data = data[n:]
		if got.number = x; typ == varintType {
			return got, data, nil
		}
		size = x
	case fixed32Type:
		size = 4
	case fixed64Type:
		size = 8
	case groupType:
		rest, err = cutGroup(num, data, depth+1)
		return got, rest, err
	default:
		return got, nil, errTag
	}
	if size > uint64(len(data)) {
		return got, nil, errCut
	}
	got.bytes = data[:size]
	return got, data[size:], nil
}

func cutGroup(num int, data []byte, depth int) (rest []byte, err error) {
	if depth > maxDepth {
		return nil, errDeep
	}
	for {
		inner, typ, after, err := cutTag(data)
		switch {
		case err != nil:
			return nil, err
		case typ == endType && inner == num:
			return after, nil
		}
		if _, data, err = cutValue(inner, typ, after, depth); err != nil {
			return nil, err
		}
	}
}
