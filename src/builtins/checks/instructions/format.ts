import { isJson } from '../../../base/json/parse.ts';
import { countText } from '../../../base/text/words.ts';
import type { Check } from '../check.ts';
import { compareCount, countParam, instructionCheck } from './instruction.ts';

const bulletLists = instructionCheck({
  type: 'detectable_format:number_bullet_lists',
  summary:
    'Whether the content has exactly this number of Markdown bullet points: lines that begin with `*` or `-`.',
  params: { num_bullets: countParam('How many bullet points.') },
  example: { params: { num_bullets: 2 }, content: 'Bring:\n* a map\n- a coat', score: 1 },
  judge: (text, { num_bullets }) => {
    const points = text.split('\n').filter((line) => /^(\*[^*]|-)/.test(line.trimStart()));
    return compareCount(points.length, num_bullets, 'exactly', 'bullet point');
  },
});

const constrainedResponse = instructionCheck({
  type: 'detectable_format:constrained_response',
  summary: 'Whether the content contains one of the allowed answers.',
  params: {
    responses: {
      schema: { type: 'array', items: { type: 'string', pattern: '\\S' }, minItems: 1 },
      default: ['My answer is yes.', 'My answer is no.', 'My answer is maybe.'],
      description: 'The answers; by default those of IFEval.',
    },
  },
  example: { params: {}, content: 'My answer is maybe.', score: 1 },
  judge: (text, { responses }) => {
    const found = Array.isArray(responses) ? responses.find((one) => text.includes(String(one))) : undefined;
    return { follows: found !== undefined, detail: found === undefined ? 'no such answer' : String(found) };
  },
});

const highlightedSections = instructionCheck({
  type: 'detectable_format:number_highlighted_sections',
  summary: 'Whether the content has at least this number of parts in `*asterisks*` or `**double ones**`.',
  params: { num_highlights: countParam('How many parts.') },
  example: { params: { num_highlights: 2 }, content: 'A *small* and a **large** one.', score: 1 },
  judge: (text, { num_highlights }) => {
    const once = text.match(/\*[^\n*]*\*/g) ?? [];
    const twice = text.match(/\*\*[^\n*]*\*\*/g) ?? [];
    const filled = [...once, ...twice].filter((part) => part.replaceAll('*', '').trim() !== '');
    return compareCount(filled.length, num_highlights, 'at least', 'highlighted part');
  },
});

const multipleSections = instructionCheck({
  type: 'detectable_format:multiple_sections',
  summary:
    'Whether the content has at least this number of sections, each with a word and its number as heading.',
  params: {
    section_spliter: {
      schema: { type: 'string', pattern: '\\S' },
      aliases: ['section_splitter'],
      default: 'Section',
      description: 'The word, in this letter case.',
    },
    num_sections: countParam('How many sections.'),
  },
  example: { params: { num_sections: 2 }, content: 'Section 1\nWhy.\nSection 2\nHow.', score: 1 },
  judge: (text, { section_spliter, num_sections }) => {
    const [, ...rests] = text.split(String(section_spliter).trim());
    const numbered = rests.filter((rest) => /^\s?\p{Nd}/u.test(rest));
    return compareCount(numbered.length, num_sections, 'at least', 'section');
  },
});

const jsonFormat = instructionCheck({
  type: 'detectable_format:json_format',
  summary: 'Whether the whole content is JSON, also in a Markdown code fence.',
  params: {},
  example: { params: {}, content: '```json\n{"city": "Oslo"}\n```', score: 1 },
  judge: (text) => {
    const bare = text
      .trim()
      .replace(/^```(?:json)?/i, '')
      .replace(/```$/, '');
    const follows = isJson(bare.trim());
    return { follows, detail: follows ? 'is JSON' : 'is not JSON' };
  },
});

const title = instructionCheck({
  type: 'detectable_format:title',
  summary: 'Whether a line of the content has a title in double angle brackets.',
  params: {},
  example: { params: {}, content: '<<Song of joy>>\nLa la la.', score: 1 },
  judge: (text) => {
    const follows = text.split('\n').some((line) => {
      const [start, end] = [line.indexOf('<<'), line.lastIndexOf('>>')];
      return start >= 0 && end > start && line.slice(start, end).replaceAll(/[<>]/g, '').trim() !== '';
    });
    return { follows, detail: follows ? 'has a title' : 'has no title' };
  },
});

const placeholders = instructionCheck({
  type: 'detectable_content:number_placeholders',
  summary: 'Whether the content has at least this number of placeholders in square brackets.',
  params: { num_placeholders: countParam('How many placeholders.') },
  example: { params: { num_placeholders: 2 }, content: 'Dear [name], see you in [town].', score: 1 },
  judge: (text, { num_placeholders }) => {
    const counts = text.split('\n').map(countBrackets);
    return compareCount(
      counts.reduce((sum, count) => sum + count, 0),
      num_placeholders,
      'at least',
      'placeholder',
    );
  },
});

function countBrackets(line: string): number {
  let count = 0;
  for (let at = line.indexOf('['); at >= 0; at = line.indexOf('[', at)) {
    at = line.indexOf(']', at);
    if (at < 0) break;
    count += 1;
  }
  return count;
}

const postscript = instructionCheck({
  type: 'detectable_content:postscript',
  summary: 'Whether the content has a postscript, in any case.',
  params: {
    postscript_marker: {
      schema: { type: 'string', pattern: '\\S' },
      default: 'P.S.',
      description: 'How it begins; `P.S.` and `P.P.S` may have spaces after their dots.',
    },
  },
  example: { params: {}, content: 'See you soon.\nP. S. Bring a coat.', score: 1 },
  judge: (text, { postscript_marker }) => {
    const marker = String(postscript_marker).trim();
    const lower = text.toLowerCase();
    const pattern = markers[marker];
    const follows = pattern === undefined ? countText(lower, marker.toLowerCase()) > 0 : pattern.test(lower);
    return { follows, detail: follows ? `has ${marker}` : `has no ${marker}` };
  },
});

const markers: Readonly<Record<string, RegExp | undefined>> = {
  'P.S.': /p\.\s?s\./,
  'P.P.S': /p\.\s?p\.\s?s/,
};

export const formatChecks: readonly Check[] = [
  bulletLists,
  constrainedResponse,
  highlightedSections,
  multipleSections,
  jsonFormat,
  title,
  placeholders,
  postscript,
];
