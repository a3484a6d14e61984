/** @import { CaseRecord, RowProblem, RunHeader, SuiteReport } from '../../../run/record.ts' */
/** @import { Row } from '../row.ts' */

/**
 * @typedef {object} Data What the page was given.
 * @property {RunHeader} header
 * @property {readonly Entry[]} entries
 * @property {readonly RowProblem[]} problems
 * @property {number} dropped How many details of passed cases were left out to keep the page small.
 * @property {SuiteReport | null} report Null when the run did not come to its end.
 */

/**
 * @typedef {object} Entry One case.
 * @property {number} number
 * @property {string} id
 * @property {readonly string[]} tags
 * @property {number | null} score
 * @property {boolean} passed
 * @property {boolean} flaky
 * @property {ReadonlyMap<number, Outcome>} results By the place of the eval in the header.
 * @property {string} text
 * @property {string} why
 * @property {string | null} detail The whole record as JSON, not read before somebody looks; null when left out.
 */

/** @typedef {{ readonly score: number | null, readonly passed: boolean, readonly flaky: boolean }} Outcome */

/**
 * Takes the data out of the blocks that stand behind the script.
 * @returns {Data | null} null when not even the header was written
 */
export function readData() {
  /** @type {{ header: RunHeader | null, entries: Entry[], problems: RowProblem[], dropped: number, report: SuiteReport | null }} */
  const data = { header: null, entries: [], problems: [], dropped: 0, report: null };
  for (const line of dataLines()) {
    const space = line.indexOf(' ');
    const kind = line.slice(0, space);
    const json = line.slice(space + 1);
    if (kind === 'detail') attachDetail(data.entries, json);
    else if (kind === 'row') data.entries.push(...parseAll(json, toEntry));
    else if (kind === 'problem') data.problems.push(...parseAll(json, (problem) => problem));
    else if (kind === 'header') data.header = JSON.parse(json);
    else if (kind === 'report') data.report = JSON.parse(json);
    else if (kind === 'notice') data.dropped = JSON.parse(json).dropped;
  }
  const { header, ...rest } = data;
  return header === null ? null : { header, ...rest };
}

/** Lines one by one; the blocks are removed, so that the text is held once. */
function* dataLines() {
  for (const block of document.querySelectorAll('script[data-block]')) {
    const lines = (block.textContent ?? '').split('\n');
    block.remove();
    for (const line of lines) if (line !== '') yield line;
  }
}

/**
 * @param {Entry[]} entries
 * @param {string} json
 */
function attachDetail(entries, json) {
  const entry = entries.at(-1);
  if (entry !== undefined) entry.detail = json;
}

/**
 * The last line of a run that was cut off may be half a line: it is left out.
 * @template Value
 * @param {string} json
 * @param {(value: any) => Value} convert
 * @returns {Value[]}
 */
function parseAll(json, convert) {
  try {
    return [convert(JSON.parse(json))];
  } catch {
    return [];
  }
}

/**
 * @param {Row} row
 * @returns {Entry}
 */
function toEntry([number, id, tags, score, passed, flaky, results, text, why]) {
  const outcomes = new Map(
    results.map(([place, resultScore, hasPassed, isFlaky]) => [
      place,
      { score: resultScore, passed: hasPassed, flaky: isFlaky },
    ]),
  );
  return { number, id, tags, score, passed, flaky, results: outcomes, text, why, detail: null };
}

/**
 * The whole record of a case, its numbers with the digits that they were written with.
 * @param {Entry} entry
 * @returns {CaseRecord | null}
 */
export function readDetail({ detail }) {
  if (detail === null) return null;
  try {
    return JSON.parse(detail, keepDigits);
  } catch {
    return null;
  }
}

/**
 * @param {string} _key
 * @param {unknown} value
 * @param {{ source?: string }} [context] Older browsers do not give it; they show a long number as they round it.
 */
function keepDigits(_key, value, context) {
  if (typeof value !== 'number' || context?.source === undefined || !('rawJSON' in JSON)) return value;
  return String(value) === context.source ? value : JSON.rawJSON(context.source);
}
