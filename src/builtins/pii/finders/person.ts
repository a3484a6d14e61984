import type { Finding } from '../finding.ts';
import { type ScannedText, textBefore } from '../scanned-text.ts';
import { capitalizedRuns, type Word, type WordRun } from './capitalized-runs.ts';
import { type Lexicon, openLexicon } from './name-lexicon.ts';

/**
 * Guesses names from neighbouring words (a title, "my name is", "says"), known first names, and capitalized words
 * without another explanation.
 */
export function* findPersons(scan: ScannedText): Generator<Finding> {
  const { text } = scan;
  if (!/\p{L}/u.test(text)) return;
  const lexicon = openLexicon();
  const runs = capitalizedRuns(scan, lexicon);
  const names = runs.map((run) => findName(run, text));
  const known = new Set(names.filter(({ length }) => length > 1).flatMap(partsOfName));
  for (const [index, run] of runs.entries()) {
    const name = names[index] ?? [];
    yield* toFinding(name.length > 0 ? name : trimRun(run).filter(({ text: word }) => known.has(word)));
  }
  yield* findIntroduced(text, lexicon);
}

function partsOfName(name: readonly Word[]): string[] {
  return name.filter(({ text, kind }) => text.length > 2 && kind !== 'common').map(({ text }) => text);
}

function* toFinding(words: readonly Word[]): Generator<Finding> {
  const [first] = words;
  const last = words.at(-1);
  if (first === undefined || last === undefined) return;
  yield { entity: 'PERSON', start: first.start, end: last.end, isConfirmed: false };
}

function findName(run: WordRun, text: string): readonly Word[] {
  if (titleBefore.test(textBefore(text, run[0].start, 14))) return run;
  const words = trimRun(run);
  const [first] = words;
  const last = words.at(-1);
  if (first === undefined || last === undefined) return [];
  const before = textBefore(text, first.start, 40);
  const after = text.slice(last.end, last.end + 30);
  if (isOtherName(words, before, after)) return [];
  if (title.test(run[0].text) && run[0] !== first) return words;
  if (introducedBefore.test(before) && isNameLike(first)) return words;
  const isSpeaking = spokenAfter.test(after) || before.endsWith('Regards,\n');
  if (words.length === 1) return isLoneName(first, before, isSpeaking) ? words : [];
  return isFullName(words, before) ? words : [];
}

function trimRun(run: WordRun): readonly Word[] {
  let words: readonly Word[] = run;
  while (words[0] !== undefined && isNotName(words[0])) words = words.slice(1);
  while (words.length > 1 && isNotName(words[words.length - 1] ?? run[0])) words = words.slice(0, -1);
  return words;
}

function isNotName({ text, kind }: Word): boolean {
  return (
    kind === 'common' || nounEnding.test(text) || title.test(text) || (text.length === 1 && kind !== 'first')
  );
}

const nounEnding = /(?:ment|tion|tions|ness|ship|ology|ware|ings|ance|ence|ity|ics)$/;
const title =
  /^(?:mrs?|ms|miss|mx|dr|prof|professor|sir|madam|lady|lord|herr|frau|monsieur|madame|señora?|signora?|judge|officer|captain|president|senator)$/i;
const titleBefore =
  /\b(?:mrs?|ms|miss|mx|dr|prof|professor|sir|madam|herr|frau|monsieur|madame|mme|señora?|signora?)\.? $/i;
const introducedBefore =
  /(?:\bname(?:'s| is| was|d|:)|\bnames? [a-z ]{0,20}is|\bname\?|\b(?:it|him|her|name|belongs|addressed|assistant|speak|speaking|spoke|talk|talked|talking|tribute|married|given) to|\bcalled|\b(?:calls?|named?) (?:me|him|her)|\b(?:says|said|wrote|told|asked|replied)|\bi['’]?m|\bi am|\bthis is|\bit's|\bdear|\bhi|\bhello|\bhey|\bthanks?|\buser:|\bsigned|\bby|\bsincerely,|\bregards,|\bpartner|\bwife|\bhusband|\bfriend|\bsister|\bbrother|\bson|\bdaughter|\battn:?|\bcontact|\bname [a-z ]{0,10}to|\bunder) ?\n?\s?$/i;
const spokenAfter =
  /^(?:,? (?:says|said|asked|asks|wrote|writes|told|replied|added|shouted|lives|works|was born|has given|had given|spent|called)\b|['’]s (?:wife|husband|son|daughter|birthday|phone|email|address|account|name)\b)/;

function isOtherName(words: readonly Word[], before: string, after: string): boolean {
  if (words.some(({ kind, text }) => kind === 'organization' || institution.test(text))) return true;
  if (
    /^[ ,]{1,2}(?:\d|(?:inc|llc|ltd|gmbh|corp|co|plc|sa|ag|group|orchestra|street|st|road|rd|avenue|ave|lane|drive|dr|u|út|utca|tér|suite|apt|country club)\b)/i.test(
      after,
    )
  ) {
    return true;
  }
  if (/^-\p{Lu}/u.test(after) || /\p{Lu}[\p{L}]+-$/u.test(before)) return true;
  return /(?:\d|\bul\.|\brua|\brue|\bvia|\bcalle|\bof the|\bcity of|\bcorner of[^\n]{0,30}| of \d[^\n]{0,30} and) ?$/i.test(
    before,
  );
}

const institution =
  /^(?:inc|llc|ltd|gmbh|corp|corporation|company|group|holdings|partners|industries|solutions|technologies|systems|labs|university|college|orchestra|street|avenue|road|lane|drive|boulevard|square|place|court|club|hospital|church|bank|rue|rua|via|calle|avenida|ulica|apt|suite|box|unit|psc|apo|dpo)$/i;

function isNameLike({ kind }: Word): boolean {
  return kind === undefined || kind === 'first' || kind === 'last';
}

function isLoneName({ kind, text }: Word, before: string, isSpeaking: boolean): boolean {
  if (isSpeaking) return isNameLike({ kind, text, start: 0, end: 0 }) && text.length > 2;
  return (kind === 'first' || kind === 'last') && !/\b(?:in|near) $/i.test(before);
}

function isFullName(words: readonly Word[], before: string): boolean {
  const [first, ...rest] = words;
  if (first === undefined || words.length > 5) return false;
  const isSurname = ({ kind, text }: Word) =>
    isNameLike({ kind, text, start: 0, end: 0 }) ||
    text.length <= 2 ||
    /^\p{Ll}/u.test(text) ||
    kind === 'place';
  if (first.kind === 'first') return rest.every(isSurname);
  if (words.slice(1, -1).some(({ text }) => text.length <= 2 && /^\p{Lu}/u.test(text))) return true;
  if (/(?:\b(?:in|at|to|from|near)|['’]s) $/i.test(before)) return false;
  if (words.some(({ text }) => /^\p{Lu}{2,}$/u.test(text))) return false;
  return isNameLike(first) && rest.every((word) => isSurname(word) && word.kind !== 'place');
}

function* findIntroduced(text: string, lexicon: Lexicon): Generator<Finding> {
  for (const match of text.matchAll(introduction)) {
    const [whole, name = ''] = match;
    const [first = ''] = name.split(' ');
    const kind = lexicon.kindOf(first);
    if (kind !== 'first' && (kind !== undefined || !/name/i.test(whole))) continue;
    const end = match.index + whole.length;
    const words = name.split(' ').filter((word, index) => index === 0 || lexicon.kindOf(word) !== 'common');
    const start = end - name.length;
    yield { entity: 'PERSON', start, end: start + words.join(' ').length, isConfirmed: false };
  }
}

const introduction =
  /\b(?:my name is|name's|name:|i am|i'm|this is|mrs?\.?|ms\.?|dr\.?) ([\p{Ll}][\p{Ll}'-]+(?: [\p{Ll}][\p{Ll}'-]+)?)(?=[ .,!?\n]|$)/giu;
