// Rate limits for Express, asked of laju over RESP by ioredis.
//
//   app.use(rateLimit({ url: 'redis://127.0.0.1:6380', rule: 'api' }));
//
// Each request is one check of `rule`, for the key that `key(request)` gives. Where laju refuses, the client gets a 429; where
// it does not answer within `timeoutMs`, the request passes: a limiter that is down must not take the service with it.
import Redis from 'ioredis';

export function rateLimit({ url, rule, key = (request) => request.ip, timeoutMs = 50 }) {
  const laju = new Redis(url, {
    commandTimeout: timeoutMs,
    connectTimeout: 1000,
    enableOfflineQueue: false, // no answer now is an answer: pass
    maxRetriesPerRequest: 0,
    retryStrategy: () => 100,
  });
  laju.on('error', () => {}); // told below, once a request

  async function ask(name) {
    try {
      return await laju.call('LAJU.CHECK', rule, name);
    } catch (error) {
      console.warn(`laju does not answer, the request passes: ${error.message}`);
      return null;
    }
  }

  return async (request, response, next) => {
    const answer = await ask(key(request));
    if (answer === null) return next();
    const [allowed, limit, remaining, retryAfterMs, resetAfterMs] = answer;
    response.set('X-RateLimit-Limit', String(limit));
    response.set('X-RateLimit-Remaining', String(remaining));
    response.set('X-RateLimit-Reset', String(Math.ceil((Date.now() + resetAfterMs) / 1000)));
    if (allowed) return next();
    if (retryAfterMs >= 0) response.set('Retry-After', String(Math.max(1, Math.ceil(retryAfterMs / 1000))));
    return response.status(429).json({ error: 'too many requests' });
  };
}
