package store_test

import (
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// TestAddresses: what may hold a secret is refused, and never shown.
func TestAddresses(t *testing.T) {
	for url, ok := range map[string]bool{
		"nats://h:4222": true, "tls://h": true, "nats://a:1,nats://b:2": true,
		"": false, "h:4222": false, "http://h": false, "nats://": false, "nats://u:s3cr3t@h:4222": false, "nats://a,nats://s3cr3t@b": false, "nats://h/x": false, "nats://h h": false,
	} {
		err := store.CheckEngine(url)
		if ok != (err == nil) || err != nil && (fault.CodeOf(err) != fault.InvalidArgument || strings.Contains(err.Error(), "s3cr3t")) {
			t.Errorf("%q: %v", url, err)
		}
		if strings.Contains(store.EngineShown(url), "s3cr3t") {
			t.Errorf("shown as %q", store.EngineShown(url))
		}
	}
}
