-- Sends each line of a file as a body, again and again; what a line has before a tab is its credential, instead of API_KEY.
-- Usage: wrk -s bodies.lua URL -- API_KEY FILE [PATH]
local bodies = {}
local headers = {}
local place = 0

function init(arguments)
  wrk.method = "POST"
  wrk.path = arguments[3] or "/v1/app-store/promotional-offers/signatures"
  wrk.headers["Authorization"] = "Bearer " .. arguments[1]
  wrk.headers["Content-Type"] = "application/json"
  for line in io.lines(arguments[2]) do
    local credential, body = line:match("^([^\t]+)\t(.*)$")
    bodies[#bodies + 1] = body or line
    headers[#bodies] = credential and { Authorization = "Bearer " .. credential, ["Content-Type"] = "application/json" }
  end
end

function request()
  place = place % #bodies + 1
  return wrk.format(nil, nil, headers[place], bodies[place])
end

-- What wrk doesn't print by itself: one line for programs, times in microseconds.
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    'figures: {"requests": %d, "microseconds": %d, "refused": %d, "broken": %d, "average": %d, "p50": %d, "p90": %d, '
      .. '"p95": %d, "p99": %d, "p999": %d}\n',
    summary.requests, summary.duration, errors.status, errors.connect + errors.read + errors.write + errors.timeout,
    latency.mean, latency:percentile(50), latency:percentile(90), latency:percentile(95), latency:percentile(99),
    latency:percentile(99.9)))
end
