// A server in Node that answers every call of a tool and allows every event of a hook, with the least code.

let rest = '';
process.stdin.setEncoding('utf8').on('data', (piece: string) => {
  const lines = (rest + piece).split('\n');
  rest = lines.pop() ?? '';
  const replies = lines.map((line) => {
    const { id, params } = JSON.parse(line);
    return `${JSON.stringify({ jsonrpc: '2.0', id, result: 'hook' in params ? { allow: true } : params.args })}\n`;
  });
  process.stdout.write(replies.join(''));
});
