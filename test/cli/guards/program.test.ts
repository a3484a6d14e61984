import { describe, expect, test } from 'vitest';
import { runGuard } from '../../../src/cli/guards/run.ts';
import { openStreams } from '../in-process.ts';
import { programs } from './programs.ts';

async function run(name: (typeof programs)[number]['name'], args: readonly string[], stdin = '', env = {}) {
  const { streams, texts } = openStreams({ stdin });
  const printError = (line: string) => void streams.stderr.write(`${line}\n`);
  const code = await runGuard(`signalbox-${name}`, { ...streams, argv: args, printError, env });
  return { code, ...texts() };
}

describe.each(programs)('signalbox-$name', ({ name, bad, kind, args }) => {
  const reply = async (payload: unknown, given: readonly string[] = args) => {
    const { code, stdout } = await run(name, given, JSON.stringify(payload));
    return { code, reply: JSON.parse(stdout) };
  };

  test('answers a hook, an eval and a tool [DS-GUARDS-09@oneshot]', async () => {
    const result = { hook: 'tool', phase: 'after_execution', request: {}, response: { content: bad } };
    expect(await reply(result)).toMatchObject({
      code: 0,
      reply: { allow: false, metadata: { [name]: { [kind]: 1 } } },
    });
    expect(await reply({ type: name, params: {}, content: bad, context: {} })).toMatchObject({
      reply: { score: expect.any(Number), detail: expect.stringContaining('the text holds 1 ') },
    });
    expect(await reply({ args: { text: bad } })).toMatchObject({
      reply: { result: { flagged: true, findings: { [kind]: 1 } } },
    });
    // A reply does not repeat a denied text.
    expect(JSON.stringify(await reply({ args: { text: bad } }))).not.toContain(bad.slice(-12));
  });

  test('as a server answers each line, and continues after lines that it cannot read [DS-GUARDS-09@server]', async () => {
    const rpc = (id: number, params: unknown) =>
      JSON.stringify({ jsonrpc: '2.0', id, method: 'execute', params });
    const lines = [
      rpc(1, { args: { text: bad } }),
      rpc(2, { args: {} }),
      bad,
      rpc(3, { args: { text: 'Hello.' } }),
    ];
    const { code, stdout, stderr } = await run(name, args, lines.join('\n'));
    const replies = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect({ code, replies }).toMatchObject({
      code: 0,
      replies: [
        { id: 1, result: { flagged: true } },
        { id: 2, error: { code: -32_602 } },
        { id: null, error: { code: -32_700 } },
        { id: 3, result: { flagged: false, text: 'Hello.' } },
      ],
    });
    expect(stdout + stderr).not.toContain(bad.slice(-12));
  });

  test.each([
    ['nothing', ''],
    ['no JSON', bad],
    ['a list', '[]'],
    ['one byte', '{'],
    ['a payload nested too deeply', `{"args":{"text":"a","b":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`],
  ])('fails on %s, without quoting it', async (_title, stdin) => {
    const { code, stdout, stderr } = await run(name, args, stdin);
    expect({ code, reply: JSON.parse(stdout) }).toEqual({
      code: 1,
      reply: { error: expect.stringMatching(/.+/) },
    });
    expect(stdout + stderr).not.toContain(bad.slice(-12));
  });

  test('--help shows the usage with an example', async () => {
    const { code, stdout } = await run(name, ['--help']);
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: signalbox-${name} `);
    expect(stdout).toContain(`| signalbox-${name}\n`);
    expect(stdout.split('\n').filter((line) => line.length > 125)).toEqual([]);
  });

  test.each([['--nothing'], ['--scan', 'nobody'], ['stray']])(
    'wrong arguments end it: %s %s',
    async (...given) => {
      const { code, stdout, stderr } = await run(name, given);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(new RegExp(`^signalbox-${name}: [^\\n]+\\n$`));
    },
  );

  test('settings can also come from variables', async () => {
    const { code, stderr } = await run(name, [], JSON.stringify({ args: { text: bad } }), {
      [`SIGNALBOX_${name.toUpperCase()}_SCAN`]: 'nobody',
    });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('there is no origin "nobody"'),
    });
  });
});
