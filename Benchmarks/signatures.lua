-- Asks for one signature after the other, each for another customer, so that no cap is reached and the index of
-- customers grows as it does in life. Usage: wrk -s signatures.lua URL -- API_KEY [REQUESTS_IN_A_BATCH | FORMAT...]
local threads = 0
local batch = nil
local formats = '"v1"'

function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

function init(arguments)
  -- Not by the time: two that begin in the same second would ask for the same customers.
  local source = io.open("/dev/urandom", "rb")
  local first, second, third = source:read(3):byte(1, 3)
  source:close()
  math.randomseed(((first * 256 + second) * 256 + third) * 64 + number)
  batch = tonumber(arguments[2])
  if arguments[2] and not batch then
    formats = '"' .. table.concat(arguments, '","', 2) .. '"'
  end
  wrk.method = "POST"
  wrk.path = "/v1/app-store/promotional-offers/signatures" .. (batch and "/batch" or "")
  wrk.headers["Authorization"] = "Bearer " .. arguments[1]
  wrk.headers["Content-Type"] = "application/json"
end

local function hexadecimal(digits)
  return string.format("%0" .. digits .. "x", math.random(0, 16 ^ digits - 1))
end

local function body()
  local token = hexadecimal(8) .. "-" .. hexadecimal(4) .. "-4" .. hexadecimal(3) .. "-8" .. hexadecimal(3) .. "-"
    .. hexadecimal(6) .. hexadecimal(6)
  return '{"bundleId":"com.example.app","productId":"com.example.pro.monthly","offerId":"winback_3m",'
    .. '"appAccountToken":"' .. token .. '",'
    .. '"facts":{"status":"expired","expiresAt":"2026-01-01T00:00:00Z"},"formats":[' .. formats .. ']}'
end

function request()
  if not batch then
    return wrk.format(nil, nil, nil, body())
  end
  local bodies = {}
  for place = 1, batch do
    bodies[place] = body()
  end
  return wrk.format(nil, nil, nil, '{"requests":[' .. table.concat(bodies, ",") .. ']}')
end

-- What wrk doesn't print by itself: one line for programs, times in microseconds.
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    'figures: {"requests": %d, "microseconds": %d, "refused": %d, "broken": %d, "p50": %d, "p99": %d, "p999": %d}\n',
    summary.requests, summary.duration, errors.status, errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9)))
end
