import {
  createSecretRules,
  secretActions,
  secretKindNames,
} from '../../src/builtins/guards/secrets/rules.ts';
import { deskTexts, hasShared, pages, questions, readmes, sentences, sources } from './corpora.ts';
import { keyTexts } from './keys.ts';
import { renderTable, type Tally, tally } from './score.ts';

/** Measures how many generated keys signalbox-secrets finds, and how often it flags ordinary texts. */
export function measureSecrets(): readonly Tally[] {
  const flags = (text: string) => rules.find(text, place).findings.length > 0;
  const published = [...keyTexts('published').values()].flat();
  const own = [
    tally('keys of 47 published formats, in prose, code and tables', { bad: published }, flags),
    ...[...keyTexts('unmarked')].map(([name, bad]) => tally(name, { bad }, flags)),
    tally('this project’s sources, a file each', { good: sources() }, flags),
    tally('this project’s pages, a page each', { good: pages() }, flags),
    tally('READMEs of the packages it is built with', { good: readmes() }, flags),
  ];
  if (!hasShared) return own;
  return [
    ...own,
    tally('questions of gsm8k', { good: [...new Set(questions())] }, flags),
    tally('sentences of presidio-research', { good: sentences() }, flags),
    tally('what people, tools and a model say in tau-bench', { good: desk() }, flags),
  ];
}

function desk(): readonly string[] {
  return [...deskTexts('user'), ...deskTexts('tool'), ...deskTexts('assistant')];
}

const rows = secretKindNames.map((kind) => [kind, secretActions[0]]);
const rules = createSecretRules({
  kinds: new Set(secretKindNames),
  actions: Object.fromEntries(rows),
  scans: () => true,
  isAllowed: () => false,
  key: new Uint8Array(32),
});
const place = { origin: 'user', prefix: '', conversation: () => [] } as const;

export function reportSecrets(): string {
  return renderTable('signalbox-secrets', measureSecrets());
}
