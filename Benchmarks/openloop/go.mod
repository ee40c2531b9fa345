module openloop

go 1.19
