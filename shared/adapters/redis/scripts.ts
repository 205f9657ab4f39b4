/**
 * Every write is a script whose first argument is a deadline on the server's clock: a command that the client gave up on
 * does nothing when a server that hung goes on and runs it. Answers `late` then.
 * @see facts/platform.md section 4, "What stays"
 */
const HEAD = `
local t = redis.call('TIME')
local now = tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
if now > tonumber(ARGV[1]) then return 'late' end
`;

/** The claim of KEYS[2], and whether its lease is still running. */
const CLAIM = `
local claim = redis.call('HMGET', KEYS[2], 'code', 'nonce', 'state', 'until')
local serving = claim[3] == 'serving' and tonumber(claim[4]) > now
`;

/** KEYS config, consumed; ARGV deadline, code, run, type, sealed, ttl */
export const PUT_CONFIG = `${HEAD}${CLAIM}
if claim[1] then return serving and 'serving' or 'consumed' end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'code', ARGV[2], 'run', ARGV[3], 'type', ARGV[4], 'sealed', ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[6])
return 'stored'
`;

/** KEYS config, consumed; ARGV deadline, code, nonce, lease, ttl of a consumed marker */
export const CLAIM_CONFIG = `${HEAD}${CLAIM}
local config = redis.call('HMGET', KEYS[1], 'code', 'run', 'type', 'sealed')
local known = claim[1] or config[1]
if not known then return 'missing' end
if known ~= ARGV[2] then return 'wrong-code' end
if claim[1] and claim[3] ~= 'serving' then return 'consumed' end
if claim[1] and not serving then
  redis.call('HSET', KEYS[2], 'state', 'lost')
  redis.call('PEXPIRE', KEYS[2], ARGV[5])
  redis.call('DEL', KEYS[1])
  return 'lost'
end
if claim[1] and claim[2] ~= ARGV[3] then return 'serving' end
if not config[1] then return 'missing' end
redis.call('HSET', KEYS[2], 'code', ARGV[2], 'nonce', ARGV[3], 'state', 'serving', 'until', now + tonumber(ARGV[4]))
redis.call('PEXPIRE', KEYS[2], ARGV[5])
return {config[2], config[3], config[4]}
`;

/** KEYS config, consumed; ARGV deadline, nonce, outcome, ttl, ttl of a consumed marker */
export const SETTLE_CONFIG = `${HEAD}${CLAIM}
if claim[2] ~= ARGV[2] or claim[3] == 'lost' then return 'no' end
if ARGV[3] == 'finish' then
  redis.call('HSET', KEYS[2], 'state', 'finished')
  redis.call('PEXPIRE', KEYS[2], ARGV[4])
  redis.call('DEL', KEYS[1])
  return 'yes'
end
if not serving then return 'no' end
if ARGV[3] == 'renew' then
  redis.call('HSET', KEYS[2], 'until', now + tonumber(ARGV[4]))
  redis.call('PEXPIRE', KEYS[2], ARGV[5])
else
  redis.call('DEL', KEYS[2])
end
return 'yes'
`;

/** KEYS config, consumed; ARGV deadline, ttl */
export const KEEP_CONFIG = `${HEAD}
if redis.call('EXISTS', KEYS[2]) == 1 then return 'no' end
return redis.call('PEXPIRE', KEYS[1], ARGV[2]) == 1 and 'yes' or 'no'
`;

/** KEYS config, consumed; ARGV deadline, 1 to take the claim too */
export const DROP_CONFIG = `${HEAD}
if ARGV[2] == '1' then redis.call('DEL', KEYS[2]) end
redis.call('DEL', KEYS[1])
return 'yes'
`;

/** KEYS value; ARGV deadline, value, ttl */
export const SET_ONCE = `${HEAD}
return redis.call('SET', KEYS[1], ARGV[2], 'NX', 'PX', ARGV[3]) and 'yes' or 'no'
`;

/** KEYS value; ARGV deadline, value, ttl */
export const PUT = `${HEAD}
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 'yes'
`;

/** KEYS lock; ARGV deadline, owner, ttl */
export const LOCK = `${HEAD}
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[2] then return 'no' end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 'yes'
`;

/** KEYS lock; ARGV deadline, owner */
export const UNLOCK = `${HEAD}
if redis.call('GET', KEYS[1]) == ARGV[2] then redis.call('DEL', KEYS[1]) end
return 'yes'
`;
