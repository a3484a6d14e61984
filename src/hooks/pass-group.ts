import { wasCutOff } from '../capability/cut-off.ts';
import { type Answer, answers } from '../contract/hook.ts';
import { bareScene } from '../contract/turn.ts';
import { toFault } from '../errors.ts';
import type { Chain } from './chain.ts';
import type { Group } from './group.ts';
import type { ForeignLink, Passage } from './link.ts';
import { takeQuestion } from './question.ts';

/** Each point that the event reaches, in the dialect's order. */
export async function passGroup({ group }: ForeignLink, chain: Chain, passage: Passage): Promise<void> {
  for (const point of group.pointsAt(chain.event)) {
    try {
      await passPoint(group, { point, chain, passage });
    } catch (thrown) {
      const error = toFault(thrown);
      const reason = `the hooks of ${point} could not be asked: ${error.message}`;
      chain.stop({ hook: null, dialect: group.dialect.name }, answers.deny(reason, { error }));
    }
  }
}

interface PointPassage {
  readonly point: string;
  readonly chain: Chain;
  readonly passage: Passage;
}

async function passPoint(group: Group, { point, chain, passage }: PointPassage): Promise<void> {
  const { dialect } = group;
  const { event } = chain;
  const { call, signal, scene: where = bareScene(call), onAnswer, onHear } = passage;
  const scene = { ...where, stops: where.forces?.[dialect.name] ?? where.stops };
  const isAsked = dialect.points[point]?.isAsked === true;
  if (isAsked ? chain.isStopped : passage.filtersOnly === true) return;
  const payload = dialect.describe(point, event, scene);
  const round = {
    point,
    payload,
    scene,
    call,
    kind: event.hook,
    phase: event.phase,
    signal,
    onAnswer,
    onHear,
  };
  if (!isAsked) {
    await group.tell(round);
    return;
  }
  const { hook, answer } = await group.ask(round);
  await takeComposed(chain, { group, round, hook, answer }, passage);
}

interface Taking {
  readonly group: Group;
  readonly round: Parameters<Group['ask']>[0];
  readonly hook: string | null;
  readonly answer: Answer;
}

/** Fails closed: an answer that does not fit the event is a denial by the hook that gave it. */
async function takeComposed(
  chain: Chain,
  { group, round, hook, answer }: Taking,
  passage: Passage,
): Promise<void> {
  const { dialect } = group;
  const by = { hook, dialect: dialect.name, isApproval: hook !== null };
  if (wasCutOff(answer)) {
    chain.stop(by, answer);
    return;
  }
  try {
    const settled = dialect.settle(chain.event, round, answer);
    if (settled.verdict === 'allow' || settled.verdict === 'modify') {
      chain.take(by, settled, passage.check);
    } else if (settled.verdict === 'ask') {
      const { replace, reason, metadata } = settled;
      if (replace !== undefined)
        chain.take(by, { verdict: 'modify', replace, reason, metadata }, passage.check);
      await takeQuestion(chain, { by, answer: settled }, passage);
    } else {
      chain.stop(by, settled);
    }
  } catch (thrown) {
    const error = toFault(thrown);
    const reason = `hook "${hook ?? dialect.name}" gave no verdict: ${error.message}`;
    chain.stop(by, answers.deny(reason, { error }));
  }
}
