module signer

go 1.19
