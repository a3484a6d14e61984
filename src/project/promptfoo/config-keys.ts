import { RuntimeError } from '../../errors.ts';
import { isObject } from '../../json/json.ts';
import type { Notes } from '../suite-import/notes.ts';

const carried = [
  'description',
  'prompts',
  'providers',
  'targets',
  'tests',
  'defaultTest',
  'scenarios',
  'assertionTemplates',
  '$schema',
];
/** What changes no verdict. */
const idle = [
  'tags',
  'outputPath',
  'sharing',
  'commandLineOptions',
  'evaluateOptions',
  'metadata',
  'derivedMetrics',
  'writeLatestResults',
];

/** Notes what a config has beside what is carried. */
export function noteTopKeys(config: Readonly<Record<string, unknown>>, notes: Notes): void {
  for (const key of Object.keys(config)) {
    if (carried.includes(key) || key.startsWith('x-')) continue;
    if (idle.includes(key)) notes.add('note', [key], `\`${key}\` is for promptfoo’s own command`);
    else if (key === 'env') noteEnv(config[key], notes);
    else notes.add('error', [key], `\`${key}\` is not carried`);
  }
}

/** Throws CONFIG_INVALID where a variable says where requests go: without it prompts would go to another company. */
function noteEnv(env: unknown, notes: Notes): void {
  const elsewhere = Object.keys(isObject(env) ? env : {}).find((name) =>
    /URL|HOST|ENDPOINT|PROXY|API_BASE/i.test(name),
  );
  if (elsewhere !== undefined)
    throw new RuntimeError(
      'CONFIG_INVALID',
      `\`env.${elsewhere}\` says where requests go, and is not carried`,
      {
        hint: 'Write `apiBaseUrl` into the `config` of each provider, take it out of `env`, and import again.',
      },
    );
  notes.add('warning', ['env'], '`env` is not written out: set these variables yourself');
}
