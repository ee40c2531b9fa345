# Makes of keys.example the example that the package installs: the secrets are those that systemd hands the service.
s|copy to `keys`, put your .p8 file beside it, and run: offer-signer check|copy to /etc/offer-signer/keys, put your .p8 file into\n// /etc/offer-signer/secrets as app-store-key, and run: as-offer-signer check|
s|file: "SubscriptionKey_ABC123DEFG.p8",|file: "credential:secret_app-store-key",|
s|^\( *\)// The file that App Store Connect lets you download once. .*|\1// The file that App Store Connect lets you download once, as systemd hands it on.|
s|`credential:NAME` reads what systemd's LoadCredential= passed|`credential:secret_NAME` is /etc/offer-signer/secrets/NAME; it belongs to root, with mode 0600|
s|^  customerIds: { epoch: "1", file: "customer-ids.key" },|  // The package has made the first one.\n  customerIds: { epoch: "1", file: "credential:secret_customer-ids" },|
s|^  auditLog: { origin: "example.com/offer-signer", file: "audit-log.key" },|  // The package has made the key; the name is yours to choose before the first start.\n  auditLog: { origin: "example.com/offer-signer", file: "credential:secret_audit-log" },|
