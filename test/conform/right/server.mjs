#!/usr/bin/env node
// Splits at newlines itself, because readline also splits at U+2028.
let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) {
    const { id, params } = JSON.parse(line);
    const name = params?.request?.name;
    const result = { allow: typeof name === 'string' && name !== 'rm' };
    setTimeout(() => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`), id % 7);
  }
});
