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
    else if (key === 'env')
      notes.add('warning', [key], '`env` is not written out: set these variables yourself');
    else notes.add('error', [key], `\`${key}\` is not carried`);
  }
}
