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
  sources: [`src/dialects/${name}/decode.ts`, `src/dialects/${name}/read/*.ts`, ...more],
  tests: [`test/dialects/${name}/**/*.test.ts`, 'test/dialects/*.test.ts'],
});

const runtimeTests = [
  'test/runtime/{batches,checks,direct-call,events,filters-together,guard,hook-files,outcomes,scrub,shadows,unseen}.test.ts',
];
const gateTests = [
  'test/hooks/*.test.ts',
  'test/capability/*.test.ts',
  ...runtimeTests,
  'test/dialects/*.test.ts',
];

/** What decides whether a call, an answer or an event passes. */
export const areas: readonly Area[] = [
  {
    name: 'capability',
    sources: ['src/capability/*.ts'],
    tests: ['test/capability/*.test.ts', 'test/hooks/*.test.ts', ...runtimeTests],
  },
  {
    name: 'gate',
    sources: [
      'src/hooks/{gate,hook-chain,link,steps,hook-set,hook-question,filter-batch,fire-point,group-gate,group,member}.ts',
    ],
    tests: gateTests,
  },
  {
    name: 'events',
    sources: [
      'src/hooks/{background-hooks,call-result,drop-report,event-input,event-queues,event-schema}.ts',
      'src/hooks/{message,observer-queue,reconcile-messages,replace,replace-turn,shape}.ts',
    ],
    tests: gateTests,
  },
  {
    name: 'promptkit',
    sources: ['src/dialects/promptkit/*.ts'],
    tests: ['test/dialects/promptkit/*.test.ts', 'test/dialects/*.test.ts', 'test/capability/*.test.ts'],
  },
  {
    name: 'approvals',
    sources: ['src/tool-call/*.ts', 'src/store/sqlite/pending-table.ts', 'src/store/store-rules.ts'],
    tests: ['test/tool-call/*.test.ts', 'test/store/*.test.ts'],
  },
  foreign('picoclaw'),
  foreign('chibi'),
  foreign('claude'),
  foreign('agentao'),
];
