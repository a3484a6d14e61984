import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createDetector } from '../src/builtins/pii/detector.ts';
import { defaultEntities, type Entity, entityNames, type KnownEntity } from '../src/builtins/pii/entity.ts';

/** A labelled corpus of sentences: `{"text", "spans": [{"type", "start", "end", "value"}]}`, in code points. */
export const corpus = fileURLToPath(
  new URL('../../shared/data/pii/synth_dataset_v2.dev.jsonl', import.meta.url),
);

/** The corpus's labels for entities that Signalbox has under another name. */
const entityOfLabel: Readonly<Record<string, KnownEntity>> = {
  CREDIT_CARD: 'CREDIT_CARD',
  IBAN_CODE: 'IBAN_CODE',
  US_SSN: 'US_SSN',
  EMAIL_ADDRESS: 'EMAIL_ADDRESS',
  IP_ADDRESS: 'IP_ADDRESS',
  PHONE_NUMBER: 'PHONE_NUMBER',
  DOMAIN_NAME: 'DOMAIN_NAME',
  AGE: 'AGE',
  ZIP_CODE: 'ZIP_CODE',
  STREET_ADDRESS: 'STREET_ADDRESS',
  PERSON: 'PERSON',
  GPE: 'LOCATION',
};

/** The detection figures of one entity. */
export interface Score {
  readonly name: string;
  readonly isDefault: boolean;
  /** Labelled spans, followed by those that a finding of the same entity overlaps. */
  readonly labelled: number;
  readonly found: number;
  /** Findings, followed by those that overlap a labelled span of the same entity. */
  readonly findings: number;
  readonly right: number;
}

interface Span {
  readonly entity: Entity;
  readonly start: number;
  readonly end: number;
}

/** Returns one row for each entity that the corpus labels, and one for the default entities together. */
export function measureCorpus(): Score[] {
  const rows = readFileSync(corpus, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const options = { regions: [], isAllowed: () => false };
  // Default entities are measured with the default settings, the others with every entity enabled.
  const usual = createDetector({ ...options, entities: defaultEntities });
  const all = createDetector({ ...options, entities: entityNames });
  const texts = rows.map(({ text, spans }) => ({ labels: readLabels(text, spans), text: String(text) }));
  const labelledEntities = new Set(Object.values(entityOfLabel));
  const scores = [...labelledEntities].map((entity) => {
    const isDefault = defaultEntities.includes(entity);
    const detect = isDefault ? usual : all;
    const pairs = texts.map(({ labels, text }) => pair(entity, labels, detect(text)));
    return { name: entity, isDefault, ...sum(pairs) };
  });
  const together = sum(scores.filter(({ isDefault }) => isDefault));
  return [...scores, { name: 'the default together', isDefault: true, ...together }];
}

type Tally = Pick<Score, 'labelled' | 'found' | 'findings' | 'right'>;

function pair(entity: Entity, labels: readonly Span[], findings: readonly Span[]): Tally {
  const gold = labels.filter((label) => label.entity === entity);
  const own = findings.filter((finding) => finding.entity === entity);
  const isMet = (one: Span, others: readonly Span[]) =>
    others.some((other) => one.start < other.end && other.start < one.end);
  return {
    labelled: gold.length,
    found: gold.filter((label) => isMet(label, own)).length,
    findings: own.length,
    right: own.filter((finding) => isMet(finding, gold)).length,
  };
}

function sum(tallies: readonly Tally[]): Tally {
  const total = (key: keyof Tally) => tallies.reduce((amount, tally) => amount + tally[key], 0);
  return {
    labelled: total('labelled'),
    found: total('found'),
    findings: total('findings'),
    right: total('right'),
  };
}

interface Label {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

/** Converts the labels to UTF-16 offsets and omits entities that Signalbox does not have. */
function readLabels(text: string, spans: readonly Label[]): Span[] {
  const places: number[] = [];
  let at = 0;
  for (const character of text) {
    places.push(at);
    at += character.length;
  }
  places.push(at);
  return spans.flatMap(({ type, start, end }) => {
    const entity = entityOfLabel[type];
    return entity === undefined ? [] : [{ entity, start: places[start] ?? at, end: places[end] ?? at }];
  });
}

/** A row of the documentation: entity, labelled, findings, precision, recall, F2. */
export function rowOf({ name, labelled, found, findings, right }: Score): string[] {
  const precision = right / findings;
  const recall = found / labelled;
  const f2 = (5 * precision * recall) / (4 * precision + recall);
  return [name, `${labelled}`, `${findings}`, precision.toFixed(3), recall.toFixed(3), f2.toFixed(3)];
}

export function renderScores(scores: readonly Score[]): string {
  const head = ['entity', 'labelled', 'findings', 'precision', 'recall', 'F2'];
  const lines = [head, ...scores.map(rowOf)].map(([name = '', ...figures]) => {
    return `  ${name.padEnd(22)}${figures.map((figure) => figure.padStart(10)).join('')}`;
  });
  return ['pii: labelled spans that are found, in 1,000 sentences', ...lines].join('\n');
}

/**
 * The test sentences of a language, in sets that were each written before the rules were run on them.
 * `[[ENTITY:value]]` marks an expected finding, sentences after `---` have none, and `⏎` is a line break.
 */
export const languages = ['en', 'de', 'fr', 'es', 'zh', 'hi', 'ja'] as const;
export type Language = (typeof languages)[number];
const sets = [1, 2, 3, 4] as const;

/** The default detection figures of one language. */
export interface LanguageScore {
  readonly language: Language;
  readonly labelled: number;
  /** Labelled values that findings of their entity cover completely. */
  readonly found: number;
  readonly clean: number;
  /** Clean sentences with a finding. */
  readonly flagged: number;
  /** Every sentence with a wrong result, for manual review. */
  readonly wrong: readonly string[];
}

export function measureSentences(language: Language, chosen: readonly number[] = sets): LanguageScore {
  const detect = createDetector({ entities: defaultEntities, regions: [], isAllowed: () => false });
  const score = { labelled: 0, found: 0, clean: 0, flagged: 0 };
  const wrong: string[] = [];
  for (const set of chosen) {
    const file = new URL(`../test/builtins/pii/sentences/${set}/${language}.txt`, import.meta.url);
    const [labelled = '', clean = ''] = readFileSync(file, 'utf8').split('\n---\n');
    for (const line of linesOf(labelled)) {
      const { text, labels } = readSentence(line);
      const findings = detect(text);
      for (const label of labels) {
        score.labelled += 1;
        const isFound = findings.some(
          ({ entity, start, end }) => entity === label.entity && start <= label.start && end >= label.end,
        );
        if (isFound) score.found += 1;
        else wrong.push(`missed: ${line} (found ${show(text, findings)})`);
      }
    }
    for (const line of linesOf(clean)) {
      const findings = detect(line);
      score.clean += 1;
      if (findings.length > 0) score.flagged += 1;
      if (findings.length > 0) wrong.push(`false: ${line} (found ${show(line, findings)})`);
    }
  }
  return { language, ...score, wrong };
}

function linesOf(text: string): string[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => line.replaceAll('⏎', '\n'));
}

function readSentence(line: string): { readonly text: string; readonly labels: readonly MarkedSpan[] } {
  const labels: MarkedSpan[] = [];
  let text = '';
  let from = 0;
  for (const { 0: marked, 1: entity = '', 2: value = '', index } of line.matchAll(
    /\[\[([A-Z_]+):(.*?)\]\]/gs,
  )) {
    text += line.slice(from, index);
    labels.push({ entity, start: text.length, end: text.length + value.length });
    text += value;
    from = index + marked.length;
  }
  return { text: text + line.slice(from), labels };
}

type MarkedSpan = Omit<Span, 'entity'> & { readonly entity: string };

function show(text: string, findings: readonly Span[]): string {
  return (
    findings.map(({ entity, start, end }) => `${entity} ${text.slice(start, end)}`).join(', ') || 'nothing'
  );
}

/** A row of the documentation: language, labelled, found, recall, clean, flagged, false findings. */
export function languageRowOf({ language, labelled, found, clean, flagged }: LanguageScore): string[] {
  return [
    language,
    `${labelled}`,
    `${found}`,
    (found / labelled).toFixed(3),
    `${clean}`,
    `${flagged}`,
    `${((100 * flagged) / clean).toFixed(1)} %`,
  ];
}
