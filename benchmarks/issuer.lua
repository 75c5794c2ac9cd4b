-- The load of issuer.py: wrk -s issuer.lua URL -- FILE; a line is a credential and a request in hexadecimal
local threads = 0

function setup(thread)
   thread:set("number", threads)
   threads = threads + 1
end

function init(args)
   people = {}
   local index = 0
   for credential, digits in io.open(args[1]):read("*a"):gmatch("(%x+) (%x+)") do
      if index % 2 == number % 2 then
         local body = digits:gsub("..", function(pair) return string.char(tonumber(pair, 16)) end)
         people[#people + 1] = wrk.format("POST", wrk.path, {
            ["Authorization"] = "Bearer " .. credential,
            ["Content-Type"] = "application/private-token-request",
         }, body)
      end
      index = index + 1
   end
   sent = 0
end

-- Everybody asks once.
function request()
   sent = sent + 1
   return people[(sent - 1) % #people + 1]
end

function done(summary, latency, requests)
   io.write(string.format(
      '\n{"requests": %d, "seconds": %.6f, "refused": %d, "broken": %d, "p99_ms": %.3f}\n',
      summary.requests, summary.duration / 1e6, summary.errors.status,
      summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout,
      latency:percentile(99) / 1e3))
end
