/**
 * Serves JSON-RPC on stdin and stdout until stdin ends: one object per line, `handle(params)` gives the result,
 * and what it throws becomes the error. Lines are split by hand because readline also splits at U+2028, which
 * JSON allows inside a string.
 */
export async function serve(handle) {
  let rest = '';
  process.stdin.setEncoding('utf8');
  for await (const chunk of process.stdin) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) await answer(line, handle);
  }
  if (rest !== '') await answer(rest, handle);
}

async function answer(line, handle) {
  const request = parse(line);
  if (request?.id === undefined) return;
  const reply = { jsonrpc: '2.0', id: request.id };
  try {
    reply.result = await handle(request.params);
  } catch (error) {
    reply.error = { code: -32000, message: error.message };
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}

function parse(line) {
  try {
    return JSON.parse(line);
  } catch {
    console.error(`not JSON: ${line.slice(0, 200)}`);
    return undefined;
  }
}
