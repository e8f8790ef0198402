// A small application with a limit: LAJU_URL=redis://127.0.0.1:6380 PORT=3000 node app.js
import express from 'express';
import { rateLimit } from './laju.js';

const app = express();
app.use(rateLimit({
  url: process.env.LAJU_URL ?? 'redis://127.0.0.1:6380',
  rule: process.env.LAJU_RULE ?? 'default',
}));
app.get('/', (request, response) => response.type('text').send('hello\n'));

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`listening on ${server.address().port}`);
});
