import { expect, test } from 'vitest';
import { guard, image, png, resource, text } from '../runtime/content-desk.ts';
import { eras, serve, wires } from './serving.ts';

const blocks = [text('SECRET'), image(png), resource({ text: 'two', mimeType: 'text/plain' })];
const hidden = [text('[hidden]'), ...blocks.slice(1)];
const prints = (result: object) => `#!/bin/sh\necho '${JSON.stringify({ result })}'\n`;

const spec = `
tools:
  ok:
    mcp: {result: content}
    output_schema: {type: object, properties: {n: {type: integer}}}
    exec: {command: ./ok.sh}
  failed: {mcp: {result: content}, exec: {command: ./failed.sh}}
  denied: {mcp: {result: content}, exec: {command: ./denied.sh}}
  broken: {mcp: {result: content}, exec: {command: ./broken.sh}}
hooks:
  guard: {command: ./guard.py, runtime: server, hook: tool, phases: [after_execution]}
`;
const files = {
  'guard.py': guard,
  'ok.sh': prints({ content: blocks, structuredContent: { n: 1, note: 'SECRET' } }),
  'failed.sh': prints({ content: blocks, isError: true }),
  'denied.sh': prints({ content: [text('a'), text('FORBIDDEN')] }),
  'broken.sh': prints({ content: [{ type: 'video' }] }),
};

test.each(wires.flatMap((wire) => eras.map((era) => ({ wire, era }))))(
  'blocks reach a client as the hooks left them ($wire, $era)',
  async ({ wire, era }) => {
    const { client } = await serve(wire, spec, { files });
    const connected = await client(era);
    const call = async (name: string) => await connected.callTool({ name });
    expect(await call('ok')).toMatchObject({
      content: hidden,
      structuredContent: { n: 1, note: '[hidden]' },
    });
    expect(await call('failed')).toMatchObject({ content: hidden, isError: true });
    const denied = await call('denied');
    expect(denied).toMatchObject({ isError: true });
    expect(denied.content).toEqual([text('Tool "denied" was blocked by hook "guard": forbidden')]);
    const broken = await call('broken');
    expect(broken).toMatchObject({ isError: true });
    expect(JSON.stringify(broken.content)).toContain('[RESULT_INVALID]');
  },
);
