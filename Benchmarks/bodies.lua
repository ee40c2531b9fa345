-- Sends each line of a file as a body, again and again. Usage: wrk -s bodies.lua URL -- API_KEY FILE [PATH]
local bodies = {}
local place = 0

function init(arguments)
  wrk.method = "POST"
  wrk.path = arguments[3] or "/v1/app-store/promotional-offers/signatures"
  wrk.headers["Authorization"] = "Bearer " .. arguments[1]
  wrk.headers["Content-Type"] = "application/json"
  for line in io.lines(arguments[2]) do
    bodies[#bodies + 1] = line
  end
end

function request()
  place = place % #bodies + 1
  return wrk.format(nil, nil, nil, bodies[place])
end
