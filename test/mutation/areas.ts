/** A part of the safety core with its tests. */
export interface Area {
  readonly name: string;
  readonly sources: readonly string[];
  readonly tests: readonly string[];
}

const foreign = (name: string, more: readonly string[] = []): Area => ({
  name,
  sources: [`src/dialects/${name}/{decode,read}.ts`, ...more],
  tests: [`test/dialects/${name}/**/*.test.ts`, 'test/dialects/*.test.ts'],
});

/** The code that decides whether a call, an answer or an event passes. */
export const areas: readonly Area[] = [
  {
    name: 'hooks',
    sources: ['src/calls/{hooks,capability}/*.ts'],
    tests: ['test/calls/{hooks,hooks/model,capability}/*.test.ts', 'test/dialects/promptkit/*.test.ts'],
  },
  { name: 'tool-calls', sources: ['src/calls/tool-call/*.ts'], tests: ['test/calls/tool-call/*.test.ts'] },
  {
    name: 'verdicts',
    sources: ['src/dialects/promptkit/{dialect,hook,eval,casing}.ts'],
    tests: [
      'test/dialects/promptkit/*.test.ts',
      'test/dialects/payload.test.ts',
      'test/calls/capability/*.test.ts',
      'test/calls/hooks/model/*.test.ts',
    ],
  },
  {
    name: 'store',
    sources: ['src/store/store-rules.ts', 'src/store/sqlite/write/make-change.ts'],
    tests: ['test/store/*.test.ts', 'test/pipelines/{*,below/*,run/*}.test.ts', 'test/cli/runs.test.ts'],
  },
  foreign('picoclaw', ['src/dialects/picoclaw/failure.ts']),
  foreign('chibi', [
    'src/dialects/chibi/{dialect,permission}.ts',
    'src/dialects/chibi/request.ts',
    // The rules of all foreign systems by which something passes.
    'src/dialects/failed-open.ts',
  ]),
  foreign('claude', ['src/dialects/claude/{dialect,hook-question,reply-object}.ts']),
  foreign('agentao', ['src/dialects/agentao/{dialect,process-output,reply-fields,rule-result}.ts']),
];
