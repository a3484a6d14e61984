import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eras, serve, wires } from './serving.ts';

const script = join(import.meta.dirname, 'conformance/progress.py');
const spec = `
tools:
  steps: {exec: {command: ${script}, runtime: server}}
hooks:
  guard: {command: ${script}, runtime: server, hook: tool, phases: [before_execution], mode: observe}
`;

test.each(wires.flatMap((wire) => eras.map((era) => ({ wire, era }))))(
  'the progress of a server reaches the client that asks for it ($wire, $era)',
  async ({ wire, era }) => {
    const { client } = await serve(wire, spec.slice(0, spec.indexOf('hooks:')));
    const connected = await client(era);
    const steps: unknown[] = [];
    const onprogress = (step: unknown) => void steps.push(step);
    const result = await connected.callTool({ name: 'steps' }, { onprogress });
    expect(result).toMatchObject({ content: [{ type: 'text', text: 'done' }] });
    // On a busy machine, steps arrive together, and the server leaves some out.
    expect(steps[0]).toEqual({ progress: 0, total: 100 });
  },
);

test('a call of the library receives the progress of its own tool only', async () => {
  const { runtime } = await serve('http', spec);
  const steps: number[] = [];
  const call = runtime.tools.call('steps', {}, { onProgress: ({ progress }) => void steps.push(progress) });
  const [document] = await Promise.all([call, runtime.tools.call('steps', {})]);
  expect({ document, steps }).toEqual({ document: { status: 'ok', result: 'done' }, steps: [0, 50, 100] });
});
