import { createServer } from 'node:http';

// A server that answers every request with the same chat completion, and prints its address.

const answer = JSON.stringify({
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm' },
  choices: [
    { index: 0, message: { role: 'assistant', content: 'Fine.', refusal: null }, finish_reason: 'stop' },
  ],
  usage: { prompt_tokens: 100, completion_tokens: 2, total_tokens: 102 },
});

const server = createServer((incoming, response) => {
  incoming.resume().once('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no address');
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${address.port}` })}\n`);
});
