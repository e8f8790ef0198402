// node client.js PORT RULE KEY [PASSWORD]: says what ioredis got, as JSON.
const Redis = require("ioredis");

async function main([port, rule, key, password]) {
  const redis = new Redis({port: Number(port), password, maxRetriesPerRequest: 1, retryStrategy: () => null});
  const out = {};
  out.ping = await redis.ping();
  out.check = await redis.call("LAJU.CHECK", rule, key);
  out.pipeline = (await redis.pipeline().call("LAJU.CHECK", rule, key).call("LAJU.PEEK", rule, key).exec()).map(([, reply]) => reply);
  out.mcheck = await redis.call("LAJU.MCHECK", rule, "11", key);
  out.throttle = await redis.call("CL.THROTTLE", key, "15", "30", "86400"); // none of it comes back while a test runs
  out.error = await redis.call("LAJU.CHECK", "nobody", key).catch((e) => e.message);
  out.quit = await redis.quit();
  console.log(JSON.stringify(out));
}

main(process.argv.slice(2)).catch((e) => {
  console.error(e);
  process.exit(1);
});
