# syntax=docker/dockerfile:1
# SPDX-License-Identifier: Apache-2.0
# docs/operations/container.md says how to run it. Scripts/container-check carries these steps out without an engine.

FROM swift:6.3-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends libcurl4-openssl-dev libevent-dev libpq-dev libsqlite3-dev libssl-dev pkg-config \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY Package.swift openapi.yaml keys.example offers.example ./
COPY docs/problems.md ./docs/problems.md
COPY Sources ./Sources
COPY Tests ./Tests
RUN swift build -c release --disable-local-rpath --static-swift-stdlib -Xlinker -z -Xlinker now --product offer-signer \
    && install -D -m 0755 --strip .build/release/offer-signer /out/offer-signer

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates libcurl4 libevent-core-2.1-7 \
        libpq5 libsqlite3-0 libssl3 libstdc++6 \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --system --gid 10001 offer-signer \
    && useradd --system --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/offer-signer \
        --shell /usr/sbin/nologin offer-signer \
    && install -d /etc/offer-signer \
    && install -d -m 0700 -o 10001 -g 10001 /var/lib/offer-signer
COPY --from=build /out/offer-signer /usr/bin/offer-signer
# Keys, offers and secrets are mounted, never built in: under /etc/offer-signer and /run/secrets.
ENV SWIFT_BACKTRACE=enable=no \
    GLIBC_TUNABLES=glibc.malloc.tcache_count=128:glibc.malloc.mmap_threshold=262144 \
    CREDENTIALS_DIRECTORY=/run/secrets \
    OFFER_SIGNER_LISTEN=0.0.0.0:8080 \
    OFFER_SIGNER_KEYS=/etc/offer-signer/keys \
    OFFER_SIGNER_OFFERS=/etc/offer-signer/offers \
    OFFER_SIGNER_DATABASE=sqlite:/var/lib/offer-signer/offer-signer.db \
    OFFER_SIGNER_CHECKPOINT_FILE=/var/lib/offer-signer/offer-signer.db.checkpoint
USER 10001:10001
VOLUME /var/lib/offer-signer
EXPOSE 8080
STOPSIGNAL SIGTERM
# Asks /health/live where OFFER_SIGNER_LISTEN says, by TLS where a certificate is set.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["/usr/bin/offer-signer", "health"]
ENTRYPOINT ["/usr/bin/offer-signer"]
CMD ["serve"]
