import type { Group, GroupResult } from '../group.ts';
import { agentao } from './agentao.ts';
import { type Asked, openAsked } from './ask.ts';
import { changed, joined } from './changed.ts';
import { chibi } from './chibi.ts';
import { claude } from './claude.ts';
import { empty, spoiled } from './malformed.ts';
import type { Outcome, Place, Vocabulary } from './outcome.ts';
import { picoclaw } from './picoclaw.ts';
import type { Content } from './printed.ts';
import { promptkit, promptkitEval, promptkitTool } from './promptkit.ts';
import { hasTwins, jsonIn, read } from './reading.ts';
import { asReplies, expectReply } from './server.ts';

/** Deeper answers may be refused, because every reader has a limit. */
const DEEP = 500;

const inGo = (vocabulary: Vocabulary): Vocabulary => ({ ...vocabulary, dialect: 'promptkit-go' });

const natives = [promptkit, promptkitTool, promptkitEval];

export const contents: readonly Group[] = [
  ...natives.map((each) => groupOf(each, {})),
  ...natives.map((each) => groupOf(inGo(each), {})),
  ...natives.map((each) => groupOf(each, { isServer: true })),
  ...[chibi, claude, agentao].flatMap((each) => [groupOf(each, {}), groupOf(each, { isClosed: true })]),
  groupOf(picoclaw, { isServer: true }),
  groupOf(picoclaw, { isServer: true, isClosed: true }),
];

interface Choice {
  readonly isServer?: boolean;
  readonly isClosed?: boolean;
}

function groupOf(vocabulary: Vocabulary, choice: Choice): Group {
  const { dialect } = vocabulary;
  const how = `${choice.isServer ? ', server' : ''}${choice.isClosed ? ', on_failure: deny' : ''}`;
  return {
    name: `contents of ${dialect}${how}`,
    every: 1999,
    async *run(isChosen) {
      let at = 0;
      await using asked = await openAsked(vocabulary, choice);
      for (const place of vocabulary.places) {
        const row = `content: ${dialect} ${place.point}${how}`;
        for (const content of contentsAt(place, choice))
          if (isChosen(at++)) yield await resultOf(asked, vocabulary, { row, place, content, choice });
      }
    },
  };
}

function contentsAt(place: Place, { isServer }: Choice): Content[] {
  const { answers } = place;
  const whole = answers.flatMap((answer) => [
    { title: 'as it is', bytes: Buffer.from(answer) },
    ...spoiled(answer),
    ...changed(answer),
  ]);
  const contents = [...empty, ...whole, ...joined(answers)];
  return isServer ? asReplies(contents, place) : contents;
}

interface Cell {
  readonly row: string;
  readonly place: Place;
  readonly content: Content;
  readonly choice: Choice;
}

async function resultOf(
  asked: Asked,
  vocabulary: Vocabulary,
  { row, place, content, choice }: Cell,
): Promise<GroupResult> {
  const { title, bytes } = content;
  const isClosed = choice.isClosed === true;
  const expected = choice.isServer
    ? expectReply(vocabulary, place.point, { bytes, isClosed })
    : vocabulary.expect(place.point, bytes, isClosed);
  const outcome = await asked.ask(place, bytes);
  const isRefusal = outcome === 'deny' && isRefusable(bytes);
  const isRight = expected.includes(outcome) || isRefusal;
  return {
    row,
    word: wordOf(outcome),
    problem: isRight ? undefined : describe(title, { bytes, expected, outcome }),
  };
}

function isRefusable(bytes: Uint8Array): boolean {
  if (read(bytes).depth > DEEP) return true;
  // Server replies contain a placeholder for the id.
  const text = new TextDecoder().decode(bytes).replaceAll('@ID@', '1').trim();
  return jsonIn(text) !== undefined && hasTwins(text);
}

interface Wrong {
  readonly bytes: Uint8Array;
  readonly expected: readonly Outcome[];
  readonly outcome: Outcome;
}

function describe(title: string, { bytes, expected, outcome }: Wrong): string {
  const shown = JSON.stringify(Buffer.from(bytes.subarray(0, 200)).toString('latin1'));
  return `${outcome}, and not ${expected.join(' or ')} | ${title} | ${shown}`;
}

const words: Readonly<Record<Outcome, string>> = {
  pass: 'passed',
  change: 'changed',
  open: 'open by its rule',
  ask: 'asked',
  'open ask': 'asked, by its rule',
  deny: 'denied',
};

function wordOf(outcome: Outcome): string {
  return words[outcome];
}
