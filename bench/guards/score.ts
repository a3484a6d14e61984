/** Counts of a guard's correct and wrong verdicts on labelled texts. */
export interface Tally {
  readonly name: string;
  /** Texts that the guard should flag, followed by those that it flagged. */
  readonly bad: number;
  readonly caught: number;
  /** Texts that the guard should pass, followed by those that it flagged. */
  readonly good: number;
  readonly flagged: number;
}

/** Counts the texts of one data set that a guard flags. */
export function tally<Text>(
  name: string,
  { bad = [], good = [] }: { readonly bad?: readonly Text[]; readonly good?: readonly Text[] },
  flags: (text: Text) => boolean,
): Tally {
  return {
    name,
    bad: bad.length,
    caught: bad.filter(flags).length,
    good: good.length,
    flagged: good.filter(flags).length,
  };
}

const recallOf = ({ bad, caught }: Tally): number => caught / bad;
const precisionOf = ({ caught, flagged }: Tally): number => caught / (caught + flagged);
const falseRateOf = ({ good, flagged }: Tally): number => flagged / good;

/** A Markdown row: name, texts, precision, recall, F1, share of harmless texts that were flagged. */
function rowOf(one: Tally): string {
  const [precision, recall] = [precisionOf(one), recallOf(one)];
  const f1 = (2 * precision * recall) / (precision + recall);
  const isBoth = one.bad > 0 && one.good > 0;
  const figure = (value: number, isShown: boolean) =>
    isShown && !Number.isNaN(value) ? value.toFixed(3) : '';
  const cells = [
    one.name,
    one.bad === 0 ? '' : `${one.bad}`,
    one.good === 0 ? '' : `${one.good}`,
    figure(precision, isBoth),
    figure(recall, one.bad > 0),
    figure(f1, isBoth),
    one.good === 0 ? '' : `${(100 * falseRateOf(one)).toFixed(2)} %`,
  ];
  return `| ${cells.join(' | ')} |`;
}

export function renderTable(title: string, tallies: readonly Tally[]): string {
  const head = [
    '| data set | to be flagged | harmless | precision | recall | F1 | harmless flagged |',
    '| --- | --- | --- | --- | --- | --- | --- |',
  ];
  return [title, ...head, ...tallies.map(rowOf)].join('\n');
}
