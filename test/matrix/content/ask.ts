import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openRuntime, type Runtime } from '../../../src/index.ts';
import { newProject, runtimeYaml } from '../../dialects/project.ts';
import { type Outcome, outcomeOf, type Place, type Vocabulary } from './outcome.ts';

export interface Asked extends AsyncDisposable {
  ask(place: Place, bytes: Uint8Array): Promise<Outcome>;
}

const printer = '#!/bin/sh\nexec cat "$(dirname "$0")/reply"\n';

function plugin(points: readonly string[]): string {
  const schema = { name: 'guard', description: 'guards', parameters: {}, hooks: points };
  return `#!/bin/sh\n[ "$1" = --schema ] && { echo '${JSON.stringify(schema)}'; exit; }\nexec cat "$(dirname "$0")/reply"\n`;
}

/**
 * Prints the file for each request with the request's id for every \`@ID@\`, then an error for that id, so that no
 * caller hangs.
 */
const server = `#!/usr/bin/env python3
import json, os, sys
out = sys.stdout.buffer
reply = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reply")
for line in sys.stdin.buffer:
    request = json.loads(line)
    if "id" not in request:
        continue
    id = str(request["id"]).encode()
    if request["method"] == "hook.hello":
        out.write(b'{"jsonrpc":"2.0","id":%s,"result":{"ok":true}}\\n' % id)
    else:
        with open(reply, "rb") as file:
            out.write(file.read().replace(b"@ID@", id))
        out.write(b'\\n{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"the end"}}\\n' % id)
    out.flush()
`;

interface Choice {
  readonly isServer?: boolean;
  readonly isClosed?: boolean;
}

export async function openAsked(
  { dialect, places }: Vocabulary,
  { isServer = false, isClosed = false }: Choice = {},
): Promise<Asked> {
  const points = places.map(({ point }) => point);
  const folder = newProject({
    'runtime.yaml': runtimeYaml(specOf(dialect, points, { isServer, isClosed })),
    printer,
    server,
    plugin: plugin(points),
    reply: '',
  });
  const runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false });
  const reply = join(folder, 'reply');
  return {
    ask: async (place, bytes) => {
      writeFileSync(reply, bytes);
      return await fire(runtime, dialect, place);
    },
    [Symbol.asyncDispose]: () => runtime.close(),
  };
}

async function fire(runtime: Runtime, dialect: string, { point, payload }: Place): Promise<Outcome> {
  if (point === 'tool') {
    const { status } = await runtime.tools.call('asked', {});
    return status === 'ok' ? 'pass' : status === 'pending' ? 'ask' : 'deny';
  }
  if (point === 'eval') {
    const { status } = await runtime.evals.call('asked', { content: '' });
    return status === 'scored' ? 'pass' : 'deny';
  }
  if (!dialect.startsWith('promptkit'))
    return outcomeOf(await runtime.hooks.fire({ dialect, point, payload }));
  const [hook = '', phase = ''] = point.split(' ');
  return outcomeOf(await runtime.hooks.fire({ ...Object(payload), hook, phase }));
}

function specOf(dialect: string, points: readonly string[], choice: Required<Choice>): string {
  const isServer = choice.isServer || dialect === 'picoclaw';
  const program = isServer ? './server' : './printer';
  const runs = `command: ${program}${choice.isServer ? ', runtime: server' : ''}, timeout_ms: 60000`;
  const closed = choice.isClosed ? ', on_failure: deny' : '';
  const hooks = () =>
    points.map((point) => `  ${point.replace(' ', '_')}: {${keysAt(dialect, point)}, ${runs}${closed}}`);
  const lines = ['state_store: {type: memory}'];
  if (points[0] === 'tool') lines.push(`tools: {asked: {exec: {${runs}}, dialect: ${dialect}}}`);
  else if (points[0] === 'eval') lines.push(`evals: {asked: {${runs}, dialect: ${dialect}}}`);
  else if (dialect === 'chibi') lines.push(`hooks: {guard: {dialect: chibi, command: ./plugin${closed}}}`);
  else if (dialect === 'picoclaw')
    lines.push(
      `hooks: {guard: {dialect: picoclaw, ${runs}${closed}, picoclaw: {intercept: [${points.join(', ')}]}}}`,
    );
  else lines.push('hooks:', ...hooks());
  return lines.join('\n');
}

function keysAt(dialect: string, point: string): string {
  const [hook, phase] = point.split(' ');
  if (dialect.startsWith('promptkit')) return `dialect: ${dialect}, hook: ${hook}, phases: [${phase}]`;
  return `dialect: ${dialect}, ${dialect}: {event: ${point}}`;
}
