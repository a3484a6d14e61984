import { createServer, type ServerResponse } from 'node:http';

// A server that answers every request with the same chat completion, and prints its address.

const answer = JSON.stringify({
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm' },
  choices: [
    { index: 0, message: { role: 'assistant', content: 'Fine.', refusal: null }, finish_reason: 'stop' },
  ],
  usage: { prompt_tokens: 100, completion_tokens: 2, total_tokens: 102 },
});

const frame = `data: ${JSON.stringify({
  ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index: 0, delta: { role: 'assistant', content: 'word ' }, finish_reason: null }],
})}\n\n`;

const server = createServer((incoming, response) => {
  const pieces: Buffer[] = [];
  incoming.on('data', (piece: Buffer) => pieces.push(piece));
  incoming.once('end', () => {
    if (Buffer.concat(pieces).includes('"stream":true')) stream(response);
    else response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
  });
});

/** Streams an answer until the client disconnects. */
function stream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const timer = setInterval(() => response.write(frame), 20);
  response.write(frame);
  response.once('close', () => clearInterval(timer));
}
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no address');
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${address.port}` })}\n`);
});
