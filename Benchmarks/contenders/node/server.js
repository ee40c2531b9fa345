// SPDX-License-Identifier: Apache-2.0
// The signature of a promotional offer ("V1") with node:crypto behind node:http: what one would write first.
// Usage: server.js PORT KEY_FILE API_KEY_FILE WORKERS
'use strict';

const cluster = require('node:cluster');
const crypto = require('node:crypto');
const fs = require('node:fs');
const http = require('node:http');

const [port, keyFile, apiKeyFile, workers] = process.argv.slice(2);
const KEY_ID = 'ABC123DEFG';
const PATH = '/v1/app-store/promotional-offers/signatures';

function serve() {
  const key = crypto.createPrivateKey(fs.readFileSync(keyFile));
  const authorization = Buffer.from(`Bearer ${fs.readFileSync(apiKeyFile, 'utf8').trim()}`);

  const isAuthorized = (header) => {
    const given = Buffer.from(header ?? '');
    return given.length === authorization.length && crypto.timingSafeEqual(given, authorization);
  };

  const sign = (request) => {
    const nonce = crypto.randomUUID();
    const timestamp = Date.now();
    const token = request.appAccountToken.toLowerCase();
    const fields = [request.bundleId, KEY_ID, request.productId, request.offerId, token, nonce, timestamp];
    const signature = crypto.sign('sha256', Buffer.from(fields.join('\u2063')), key);
    return {
      identifier: request.offerId,
      keyIdentifier: KEY_ID,
      nonce,
      timestamp,
      signature: signature.toString('base64'),
      appAccountToken: token,
    };
  };

  const answer = (response, status, value) => {
    const body = JSON.stringify(value);
    response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
    response.end(body);
  };

  http.createServer((request, response) => {
    if (request.method !== 'POST' || request.url !== PATH) return answer(response, 404, { error: 'not found' });
    if (!isAuthorized(request.headers.authorization)) return answer(response, 401, { error: 'unauthorized' });
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      let result;
      try {
        result = sign(JSON.parse(Buffer.concat(chunks).toString()));
      } catch {
        return answer(response, 400, { error: 'bad request' });
      }
      answer(response, 200, result);
    });
  }).listen(Number(port), '127.0.0.1', 4096);
}

if (Number(workers) > 1 && cluster.isPrimary) {
  for (let number = 0; number < Number(workers); number += 1) cluster.fork();
} else {
  serve();
}
