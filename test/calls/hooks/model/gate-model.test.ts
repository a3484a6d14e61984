import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isObject, Json } from '../../../../src/base/json/json.ts';
import { readEvent } from '../../../../src/calls/hooks/event-input.ts';
import { type GateOptions, isFiltered, passGate } from '../../../../src/calls/hooks/gate.ts';
import { decisionOf } from '../../../../src/calls/hooks/hook-chain.ts';
import { answers, type HookEvent } from '../../../../src/contract/hook.ts';
import { openBench } from '../../capability/bench.ts';
import { decideByModel, type Outcome } from './chain-model.ts';
import { answerOf, hook, linksOf, type Phase, reply, type Told } from './hooks.ts';

const events: Readonly<Record<Phase, HookEvent>> = {
  before_execution: readEvent({
    hook: 'tool',
    phase: 'before_execution',
    request: { name: 'w', args: new Json('{"text":"begin"}'), call_id: 'c1' },
  }),
  after_call: readEvent({
    hook: 'provider',
    phase: 'after_call',
    request: { messages: [], system_prompt: '' },
    response: { message: { role: 'assistant', content: 'begin' } },
  }),
};

test('a chain decides like a model of ninety lines, whatever its hooks answer', async () => {
  const bench = openBench();
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom<Phase>('before_execution', 'after_call'),
      fc.array(hook, { maxLength: 6 }),
      reply,
      fc.boolean(),
      async (phase, hooks, to, isTimed) => {
        const told: Told[] = [];
        const timed: string[] = [];
        const links = linksOf(bench, hooks, phase, told);
        const event = events[phase];
        const options: GateOptions = {
          call: 'c',
          check: (changed) => (textOf(changed) === 'bad' ? 'is bad' : undefined),
          isApproved: () => to === 'approved before',
          onAsk: async () => answerOf(to) ?? nobody,
          ...(isTimed && { onAnswer: (name, verdict) => timed.push(`${name} ${verdict}`) }),
        };
        const expected = decideByModel(hooks, phase, to);
        const { decision, event: left } = await passGate(links, event, options);
        const { verdict, hook: by, enforced, abort, error } = decision;
        const found: Outcome = {
          ...{ verdict, hook: by, enforced, abort, code: error?.code, text: textOf(left) },
          reason:
            expected.code === undefined ? decision.reason : decision.reason.slice(0, expected.reason.length),
          replaced: replacedText(decision.replace),
          metadata: Object(decision.metadata.value),
          told: told.map(({ hook: name, event: heard }) => `${name} ${textOf(heard)}`),
        };
        expect(found).toEqual(expected);
        const isAsked = hooks.some(({ mode, isMeant }) => mode === 'filter' && isMeant);
        expect(isFiltered(links, event)).toBe(isAsked);
        expect(decision.result?.value).toBe(
          enforced ? 'This response was withheld by a guardrail.' : undefined,
        );
        if (isTimed && isAsked) expect(timed.length).toBeGreaterThan(0);
      },
    ),
    { numRuns: Number(process.env['MODEL_RUNS'] ?? 1_500) },
  );
});

const nobody = decisionOf({ hook: null, dialect: null }, answers.allow());

function textOf(event: HookEvent): string {
  if (event.phase === 'after_call') return String(event.response.message.content);
  if (event.phase !== 'before_execution') return '';
  const { args } = event.request;
  const value: unknown = args instanceof Json ? args.value : args;
  return isObject(value) ? String(value['text']) : '';
}

function replacedText(replace: Json | null): string | null {
  const value = replace?.value;
  if (!isObject(value)) return null;
  const { args, message } = value;
  if (isObject(args)) return String(args['text']);
  return isObject(message) ? String(message['content']) : null;
}
