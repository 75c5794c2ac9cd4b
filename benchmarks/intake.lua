-- The load of intake.py: wrk -s intake.lua URL -- TOKENS BATCH ENVELOPES NAME
local threads = 0

function setup(thread)
   thread:set("number", threads)
   threads = threads + 1
   thread:set("threads", threads)
end

function init(args)
   tokens = {}
   local index = 0
   for line in io.lines(args[1]) do
      if index % 2 == number % 2 then tokens[#tokens + 1] = "Bearer " .. line end
      index = index + 1
   end
   batch, envelopes, name = args[2], tonumber(args[3]), args[4]
   padding = string.rep("x", 128 - 32)
   sent = 0
   path = wrk.path
end

-- Every envelope differs from every other; what is in it does not matter to who cannot open it.
function request()
   local parts = {}
   for place = 1, envelopes do
      parts[place] = string.format("%12s%4d%12d%4d", name, number, sent, place) .. padding
   end
   local token = tokens[sent % #tokens + 1]
   sent = sent + 1
   return wrk.format("POST", path, {
      ["Authorization"] = token,
      ["Content-Type"] = "application/octet-stream",
      ["Croupier-Batch"] = batch,
   }, table.concat(parts))
end

function done(summary, latency, requests)
   io.write(string.format(
      '\n{"requests": %d, "seconds": %.6f, "refused": %d, "broken": %d, "p99_ms": %.3f}\n',
      summary.requests, summary.duration / 1e6, summary.errors.status,
      summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout,
      latency:percentile(99) / 1e3))
end
