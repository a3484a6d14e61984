import { expect, test } from 'vitest';
import { eras, fixture, serve, wires } from './serving.ts';

const spec = `tools: {env: {exec: {command: ${fixture('print-env')}}}}`;
const traceparent = `00-${'1'.repeat(32)}-00f067aa0ba902b7-01`;

test.each(wires.flatMap((wire) => eras.map((era) => ({ wire, era }))))(
  'the trace of a call reaches the program, and an invalid one is ignored ($wire, $era)',
  async ({ wire, era }) => {
    const { client } = await serve(wire, spec);
    const opened = await client(era);
    const seenWith = async (meta: object) => {
      const { content } = await opened.callTool({ name: 'env', arguments: {}, _meta: { ...meta } });
      const [block] = content;
      const { TRACEPARENT, TRACESTATE } = JSON.parse(block?.type === 'text' ? block.text : '{}');
      return [TRACEPARENT, TRACESTATE];
    };
    expect(await seenWith({ traceparent, tracestate: 'a=1' })).toEqual([traceparent, 'a=1']);
    expect(await seenWith({ traceparent: 'nonsense', tracestate: 'a=1' })).toEqual([undefined, undefined]);
    expect(await seenWith({})).toEqual([undefined, undefined]);
  },
);
