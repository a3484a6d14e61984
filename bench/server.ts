import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Contender, measure, render, spread } from './measure.ts';
import { makeFolder, open } from './workspace.ts';

const script = `#!/usr/bin/env python3
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": request["params"]["args"]}), flush=True)
`;
const config = `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  tools:
    echo: {description: gives its arguments back, exec: {command: ./echo.py, runtime: server}}
`;

/** How many requests a second one Python server answers: a bare loop over its pipes, against a whole tool call. */
export async function benchServer(): Promise<string> {
  const folder = makeFolder({ 'echo.py': script, 'runtime.yaml': config });
  const runtime = await open(folder.path);
  const measured = await measure(
    [
      openBare(join(folder.path, 'echo.py')),
      {
        name: 'signalbox tool call',
        run: (count, at) =>
          spread(count, at, async () => {
            const { status } = await runtime.tools.call('echo', { city: 'Oslo' });
            if (status !== 'ok') throw new Error(`the tool was ${status}`);
          }),
        close: () => runtime.close(),
      },
    ],
    { count: 4000 },
  );
  folder.remove();
  return render('server: a Python process that answers JSON-RPC', measured);
}

/** The least that can be done: ids, lines and promises, and nothing that can go wrong handled. */
function openBare(command: string): Contender {
  const child = spawn(command, { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map<number, (result: unknown) => void>();
  let lastId = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, result } = JSON.parse(line);
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  const ask = () =>
    new Promise<void>((resolve) => {
      const id = ++lastId;
      waiting.set(id, () => resolve());
      child.stdin.write(
        `${JSON.stringify({ jsonrpc: '2.0', id, method: 'execute', params: { args: { city: 'Oslo' } } })}\n`,
      );
    });
  return {
    name: 'bare loop over pipes',
    run: (count, at) => spread(count, at, ask),
    close: async () => {
      child.stdin.end();
      await new Promise((resolve) => child.once('exit', resolve));
    },
  };
}
