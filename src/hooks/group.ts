import { wasCutOff } from '../capability/cut-off.ts';
import { type Answer, answers, type HookEvent } from '../contract/hook.ts';
import { type Composed, compose, type Spoken } from '../dialects/compose.ts';
import type { ForeignDialect, Point, Question } from '../dialects/foreign.ts';
import { toFault } from '../errors.ts';
import { openTeller } from './background-hooks.ts';
import { askMember, type GroupContext, type Member, pointOf, type Round } from './member.ts';

export type { GroupContext, Member, Round } from './member.ts';

/** Hooks of one foreign dialect that are one link of a chain. */
export interface Group {
  readonly dialect: ForeignDialect;
  readonly members: readonly Member[];
  /** The points that this event reaches and that some member may hear of. */
  pointsAt(event: HookEvent): readonly string[];
  /** Asks the hooks of a point and composes what they say by the dialect's rule. Never rejects. */
  ask(round: Round): Promise<Composed>;
  /**
   * Tells the hooks of a point. Resolves at once, unless their own system waits for them there: then when all have been
   * told, or the caller gives up; they are told nevertheless. Never rejects.
   */
  tell(round: Round): Promise<void>;
  /** Texts for the model that hooks in the background have given since the last time. */
  takeLate(session: string): readonly string[];
  /** Waits for what is still being told, at most the hooks' timeouts. Never rejects. */
  close(): Promise<void>;
}

export function openGroup(dialect: ForeignDialect, members: readonly Member[], context: GroupContext): Group {
  const teller = openTeller(dialect, members, context);
  const gaveUp = rememberSilence();
  /** Who hears of it. What hooks read from files is written down only where somebody does. */
  const select = ({ point, payload, scene }: Round): Selected => {
    const question: Question = { point, payload, scene };
    const selected = members.filter(({ seat }) => dialect.selects(seat, question));
    const isRead = dialect.readsTranscript && selected.length > 0;
    return {
      selected,
      question: isRead ? { ...question, scene: context.prepare(scene, dialect) } : question,
    };
  };
  const report = (question: Question, outcome: { selected: number; answer: Answer }) => {
    const data = dialect.report?.(question, outcome);
    if (data !== undefined) context.emit({ type: 'plugin_hook_fired', hook_name: question.point, data });
  };
  return {
    dialect,
    members,
    pointsAt: (event) => dialect.pointsAt(event),
    ask: async (round) => {
      const point = pointOf(dialect, round.point);
      const { question, selected } = select(round);
      const inBackground = (member: Member) => dialect.isBackground(member.seat, round.point);
      for (const member of selected.filter(inBackground)) void teller.tell(member, round, question);
      const asked = selected.filter((member) => !inBackground(member) && !gaveUp.has(member, round.point));
      const asking = { round, question, point, onSilence: gaveUp.watch };
      const spoken = await askInOrder(dialect, asked, asking, context);
      // What the dialect makes of its hooks' answers it may not make of our own doing.
      const cut = spoken.find(({ answer }) => wasCutOff(answer));
      if (cut !== undefined) return cut;
      const composed = composeOrDeny(dialect, spoken, { question, point, selected: asked.length });
      report(question, { selected: selected.length, answer: composed.answer });
      return composed;
    },
    tell: async (round) => {
      const { question, selected } = select(round);
      const isAwaited = pointOf(dialect, round.point).isAwaited === true;
      const telling = isAwaited
        ? tellInOrder(selected, (member) => teller.tell(member, round, question))
        : Promise.all(selected.map((member) => teller.tell(member, round, question)));
      if (isAwaited) await unlessGivenUp(telling, round.signal);
      report(question, { selected: selected.length, answer: answers.allow() });
    },
    takeLate: teller.takeLate,
    close: teller.close,
  };
}

/** Each hook is told when those before it have been. */
async function tellInOrder(
  members: readonly Member[],
  tell: (member: Member) => Promise<void>,
): Promise<void> {
  for (const member of members) await tell(member);
}

async function unlessGivenUp(work: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  const { promise: givenUp, resolve } = Promise.withResolvers<void>();
  const leave = () => resolve();
  if (signal?.aborted) leave();
  signal?.addEventListener('abort', leave, { once: true });
  await Promise.race([work, givenUp]);
  signal?.removeEventListener('abort', leave);
}

/** Which hooks have said that they have nothing to say at a point; a process that is started again is asked anew. */
function rememberSilence() {
  const silent = new Map<Member, Map<string, number>>();
  const lifeOf = ({ transport }: Member) => transport?.lives?.() ?? 0;
  return {
    has: (member: Member, point: string) => silent.get(member)?.get(point) === lifeOf(member),
    /** To be called before a member is asked; the returned function when it has said that it has nothing to say. */
    watch: (member: Member, point: string) => {
      const before = lifeOf(member);
      return () => {
        const life = lifeOf(member);
        // Of several processes one was started anew meanwhile: there is no telling which of them has answered.
        if (before !== 0 && before !== life) return;
        silent.set(member, (silent.get(member) ?? new Map<string, number>()).set(point, life));
      };
    },
  };
}

interface Selected {
  readonly question: Question;
  readonly selected: readonly Member[];
}

interface Asking {
  readonly round: Round;
  readonly question: Question;
  readonly point: Point;
  /** Gives what is to be called when that member has nothing to say at that point. */
  readonly onSilence: (member: Member, point: string) => () => void;
}

async function askInOrder(
  dialect: ForeignDialect,
  members: readonly Member[],
  { round, question, point, onSilence }: Asking,
  context: GroupContext,
): Promise<Spoken[]> {
  const ask = async (member: Member, asked: Question): Promise<Spoken> => {
    const remember = onSilence(member, round.point);
    const answer = await askMember(dialect, member, { round, question: asked, mode: 'filter' }, context);
    if (answer.verdict === 'allow' && answer.isUnheard === true) remember();
    return { hook: member.seat.name, answer };
  };
  if (point.order === 'parallel') return await Promise.all(members.map((member) => ask(member, question)));
  const spoken: Spoken[] = [];
  let current = question;
  for (const member of members) {
    const one = await ask(member, current);
    spoken.push(one);
    const { answer } = one;
    const isEnd = point.ends?.includes(answer.verdict) ?? false;
    if (isEnd || (point.order === 'chain' && answer.verdict !== 'allow' && answer.verdict !== 'modify'))
      break;
    if (point.order === 'chain') current = { ...current, payload: dialect.carry(current, answer) };
  }
  return spoken;
}

function composeOrDeny(
  dialect: ForeignDialect,
  spoken: readonly Spoken[],
  { question, point, selected }: Pick<Asking, 'question' | 'point'> & { readonly selected: number },
): Composed {
  try {
    const composed = compose(spoken, point.composition);
    return dialect.conclude?.(question, spoken, composed, selected) ?? composed;
  } catch (thrown) {
    const error = toFault(thrown);
    const hook = spoken.at(-1)?.hook ?? null;
    const reason = `what the hooks answered could not be composed: ${error.message}`;
    return { hook, answer: answers.deny(reason, { error }) };
  }
}
