import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RuntimeError } from '../../src/base/errors.ts';
import { Json } from '../../src/base/json/json.ts';
import { decisionOf } from '../../src/calls/hooks/hook-chain.ts';
import { toDecisionDocument } from '../../src/calls/tool-call/document.ts';
import { type Answer, withoutFaultText } from '../../src/contract/hook.ts';
import type { ProcessReply, Reply } from '../../src/process/transport.ts';
import { openTestGateway } from '../gateway/open-gateway.ts';
import * as agentao from './agentao/asking.ts';
import * as chibi from './chibi/asking.ts';
import * as claude from './claude/handler.ts';
import * as picoclaw from './picoclaw/seat.ts';
import { decodeHook } from './verdicts.ts';

const marker = 'Alice has gout';

/** Text that a failing process may print, and that is no documented answer. */
const text = fc.constantFrom(
  marker,
  `{"allow": "${marker}"}`,
  `{"allow": true, "reason": "${marker}"`,
  `["${marker}"]`,
  `"${marker}"`,
  `{"error": "${marker}"}`,
  `{"action": "${marker}"}`,
  `{"decision": {"${marker}": 1}}`,
  `log: ${marker}\n{"hookSpecificOutput": {"permissionDecision": "${marker}"}}`,
);

const failedProcess: fc.Arbitrary<ProcessReply> = fc
  .record({ stdout: text, stderr: text, exitCode: fc.constantFrom(1, 3, 127, null) })
  .map(({ stdout, stderr, exitCode }) => ({
    ...{ via: 'process', stdout: Buffer.from(stdout), stderr, exitCode },
    signal: exitCode === null ? 'SIGKILL' : null,
  }));

/** A successful exit with malformed output. */
const malformed: fc.Arbitrary<ProcessReply> = fc
  .record({ stdout: text, stderr: text })
  .map(({ stdout, stderr }) => ({
    ...{ via: 'process', stdout: Buffer.from(stdout), stderr, exitCode: 0, signal: null },
  }));

const rpc: fc.Arbitrary<Reply> = fc.oneof(
  text.map((each): Reply => ({ via: 'rpc', error: Json.from({ code: 1, message: each, data: marker }) })),
  fc
    .constantFrom(`"${marker}"`, `["${marker}"]`, `{"action":"${marker}"}`, `{"allow":"${marker}"}`)
    .map((result): Reply => ({ via: 'rpc', result: new Json(result) })),
);

const fault = fc
  .constantFrom(
    'PROCESS_START',
    'PROCESS_TIMEOUT',
    'OUTPUT_LIMIT',
    'SERVER_EXIT',
    'REPLY_MALFORMED',
    'INTERNAL',
  )
  .map(
    (code) =>
      new RuntimeError(code, `it failed: ${marker}`, {
        hint: marker,
        details: { stderr: marker, text: marker },
      }),
  );

const onFailure = fc.constantFrom('own', 'deny');

const dialects: Readonly<Record<string, fc.Arbitrary<Answer>>> = {
  promptkit: fc.oneof(failedProcess, malformed, rpc).map((reply) => decodeHook(reply)),
  chibi: fc
    .tuple(fc.oneof(failedProcess, fault), onFailure)
    .map(([reply, closed]) => chibi.readAt('pre_tool', reply, closed)),
  claude: fc
    .tuple(fc.oneof(failedProcess, malformed, fault), onFailure)
    .map(([reply, closed]) => claude.readAt('PreToolUse', reply, { onFailure: closed }).output),
  // The stdout of an Agentao rule is context for the model, whatever its exit code.
  agentao: fc
    .tuple(
      fc.oneof(
        failedProcess.map((reply) => ({ ...reply, stdout: Buffer.from('') })),
        fault,
      ),
      onFailure,
      fc.constantFrom('PreToolUse', 'UserPromptSubmit', 'Stop'),
    )
    .map(([reply, closed, point]) =>
      agentao.ask({ point, reply, seat: { ...agentao.seatAt(point), onFailure: closed } }),
    ),
  picoclaw: fc
    .tuple(fc.oneof(rpc, fault), onFailure, fc.constantFrom('before_llm', 'before_tool', 'approve_tool'))
    .map(([reply, closed, point]) =>
      picoclaw.answerTo(point, reply, closed === 'deny' ? { onFailure: 'deny' } : {}),
    ),
};

test.each(Object.entries(dialects))(
  'no output of a failed hook of %s is in a decision',
  (dialect, anyAnswer) => {
    fc.assert(
      fc.property(anyAnswer, (answer) => {
        const decision = decisionOf({ hook: 'guard', dialect }, answer);
        expect(JSON.stringify(toDecisionDocument(decision))).not.toContain(marker);
        expect(withoutFaultText(decision)).toBe(decision);
      }),
      { numRuns: 500 },
    );
  },
);

test('the person who runs a hook sees its output', () => {
  const answer = decodeHook({
    ...{ via: 'process', stdout: Buffer.from(''), stderr: marker, exitCode: 3, signal: null },
  });
  const decision = decisionOf({ hook: 'guard', dialect: 'promptkit' }, answer);
  expect(toDecisionDocument(decision, { wholeFaults: true })).toMatchObject({
    reason: expect.stringContaining(marker),
    error: { code: 'PROCESS_EXIT', details: { stderr: marker } },
  });
});

const guard = `#!/bin/sh
read -r line
case $line in *boom*) echo 'judged: ${marker}' >&2; exit 3;; esac
echo '{"allow": true}'
`;

test.each([
  { hook: 'provider', phase: 'before_call' },
  { hook: 'provider', phase: 'after_call' },
  { hook: 'tool', phase: 'before_execution' },
] as const)(
  'no client of a gateway reads the output of a $hook hook that failed at $phase',
  async ({ hook, phase }) => {
    const answers = hook === 'tool' ? 'tool_calls: [{name: run, args: {text: boom}}]' : 'text: boom';
    const asks = phase === 'before_call' ? 'boom' : 'hello';
    await using opened = await openTestGateway(
      `state_store: {type: memory}
providers: [{id: main, type: mock, model: m, additional_config: {responses: [{${answers}, repeat: true}]}}]
hooks: {guard: {command: ./guard.sh, hook: ${hook}, phases: [${phase}]}}
gateway: {tools: {hooks: true}}`,
      { 'guard.sh': guard },
    );
    for (const stream of [false, true]) {
      const body = { model: 'm', stream, messages: [{ role: 'user', content: asks }] };
      const told = await (await opened.post('/v1/chat/completions', body)).text();
      expect(told).toContain('the hook failed: The process ended with an exit code other than 0.');
      expect(told).not.toContain(marker);
    }
  },
);
