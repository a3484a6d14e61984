/** A part of the safety core, and the tests that hold it. */
export interface Area {
  readonly name: string;
  /** Patterns of source files. */
  readonly sources: readonly string[];
  /** Patterns of test files. */
  readonly tests: readonly string[];
}

const foreign = (name: string, more: readonly string[] = []): Area => ({
  name,
  sources: [`src/dialects/${name}/{decode,read}.ts`, `src/dialects/${name}/read/*.ts`, ...more],
  tests: [`test/dialects/${name}/**/*.test.ts`, 'test/dialects/*.test.ts'],
});

/** Those whose tools and hooks are no processes. */
const playedCalls = [
  'test/calls/tool-call/{approvers,after-execution,before-execution,call-loop,decided-call}.test.ts',
  'test/calls/tool-call/{document,stopped-call,tool-args}.test.ts',
];

/** What decides whether a call, an answer or an event passes. */
export const areas: readonly Area[] = [
  {
    name: 'gate',
    sources: ['src/calls/hooks/{gate,hook-chain,links}.ts', 'src/calls/capability/hook.ts'],
    tests: [
      'test/calls/hooks/model/*.test.ts',
      'test/calls/hooks/{gate,filter-batch,group-gate,hook-chain,hook-question,steps}.test.ts',
      'test/calls/hooks/{reconcile-messages,replace}.test.ts',
      'test/calls/capability/{ask-hook,faults}.test.ts',
    ],
  },
  {
    name: 'verdicts',
    sources: ['src/dialects/promptkit/{dialect,hook,eval}.ts', 'src/calls/capability/invoke.ts'],
    tests: [
      'test/dialects/promptkit/*.test.ts',
      'test/calls/capability/*.test.ts',
      'test/calls/hooks/model/*.test.ts',
    ],
  },
  {
    name: 'approvals',
    sources: ['src/calls/tool-call/approvals.ts', 'src/store/store-rules.ts'],
    tests: ['test/calls/tool-call/{approval-rule,decider,named-approvers,quorum,read-decision}.test.ts'],
  },
  {
    name: 'decided',
    sources: ['src/calls/tool-call/pending-call.ts'],
    tests: [...playedCalls, 'test/calls/tool-call/decision-rules.test.ts'],
  },
  {
    name: 'pendings',
    sources: ['src/store/sqlite/write/make-change.ts'],
    tests: ['test/store/{sqlite-store,damaged-records}.test.ts'],
  },
  {
    name: 'groups',
    sources: ['src/calls/hooks/{fire-point,group}.ts'],
    tests: ['test/calls/hooks/{fire-point,group,group-gate,group-told,hook-set,member,steps}.test.ts'],
  },
  {
    name: 'events',
    sources: ['src/calls/hooks/observer-queue.ts'],
    tests: ['test/calls/hooks/{background-hooks,background-queue,event-queues,observer-queue}.test.ts'],
  },
  {
    name: 'contents',
    sources: ['src/calls/hooks/{event-input,replace}.ts'],
    tests: ['test/calls/hooks/{call-result,event-input,reconcile-messages,replace}.test.ts'],
  },
  {
    name: 'scores',
    sources: ['src/calls/capability/eval.ts', 'src/dialects/promptkit/casing.ts'],
    tests: [
      'test/calls/capability/*.test.ts',
      'test/dialects/promptkit/*.test.ts',
      'test/dialects/payload.test.ts',
      'test/runtime/batches.slow.test.ts',
    ],
  },
  {
    name: 'calls',
    sources: ['src/calls/tool-call/{after-execution,before-execution,call,callable-tool,document}.ts'],
    tests: playedCalls,
  },
  foreign('picoclaw', ['src/dialects/picoclaw/failure.ts']),
  foreign('chibi', [
    'src/dialects/chibi/{dialect,permission}.ts',
    'src/dialects/chibi/request.ts',
    // What passes by a rule of a foreign system, in all of them.
    'src/dialects/failed-open.ts',
  ]),
  foreign('claude', ['src/dialects/claude/{dialect,hook-question,reply-object}.ts']),
  foreign('agentao', ['src/dialects/agentao/{dialect,process-output,reply-fields,rule-result}.ts']),
];
