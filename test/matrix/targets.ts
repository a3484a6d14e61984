import { foreignPoints, nativePoints, nativeTold, type Point } from './points.ts';

type NativeDialect = 'promptkit' | 'promptkit-go';
export type ForeignName = keyof typeof foreignPoints;
type Carrier = 'oneshot' | 'warm' | 'fork' | 'server';
type Launcher = 'native' | 'portable';
type Mode = 'filter' | 'observe' | 'shadow';

interface Place {
  readonly id: string;
  readonly kind: string;
  readonly transport: Carrier;
  readonly launcher: Launcher;
}

interface Called extends Place {
  readonly capability: 'tool' | 'eval';
  readonly dialect: NativeDialect | 'chibi';
}

export interface Hooked extends Place {
  readonly capability: 'hook';
  readonly dialect: NativeDialect | ForeignName;
  readonly mode: Mode;
  readonly point: Point;
  /** The entry's `on_failure`; null: absent. */
  readonly onFailure: 'deny' | null;
}

export type Target = Called | Hooked;

type Draft = Omit<Called, 'id' | 'kind'> | Omit<Hooked, 'id' | 'kind'>;

const launchers: readonly Launcher[] = ['native', 'portable'];
const carriers: readonly Carrier[] = ['oneshot', 'warm', 'fork', 'server'];
const foreigners = ['picoclaw', 'chibi', 'claude', 'agentao'] as const satisfies readonly ForeignName[];
const natives: readonly NativeDialect[] = ['promptkit', 'promptkit-go'];

export function listTargets(): Target[] {
  return launchers.flatMap((launcher) => [
    ...carriers.flatMap((transport) =>
      natives.flatMap((dialect) => nativeTargets(dialect, { launcher, transport })),
    ),
    target({ capability: 'tool', dialect: 'chibi', transport: 'oneshot', launcher }),
    ...foreignTargets(launcher),
  ]);
}

export function isHook(target: Target): target is Hooked {
  return target.capability === 'hook';
}

export function isForeign(target: Target): target is Hooked & { readonly dialect: ForeignName } {
  return target.capability === 'hook' && Object.hasOwn(foreignPoints, target.dialect);
}

/** Whether it represents all targets of its dialect, transport and launcher. */
export function isFirst(target: Target): boolean {
  if (target.capability !== 'hook') return target.capability === 'tool';
  return isForeign(target) && target.point === foreignPoints[target.dialect][0] && target.onFailure === null;
}

function nativeTargets(dialect: NativeDialect, place: Pick<Place, 'transport' | 'launcher'>): Target[] {
  const hook = (mode: Mode) => (point: Point) =>
    target({ ...place, capability: 'hook', dialect, mode, point, onFailure: null });
  return [
    target({ ...place, capability: 'tool', dialect }),
    target({ ...place, capability: 'eval', dialect }),
    ...nativePoints.map(hook('filter')),
    ...[...nativePoints, ...nativeTold].map(hook('observe')),
    ...nativePoints.map(hook('shadow')),
  ];
}

function foreignTargets(launcher: Launcher): Target[] {
  return foreigners.flatMap((dialect) => {
    const transport = dialect === 'picoclaw' ? 'server' : 'oneshot';
    return foreignPoints[dialect].flatMap((point: Point) =>
      ([null, 'deny'] as const).map((onFailure) => {
        const mode = point.isTold ? 'observe' : 'filter';
        return target({ capability: 'hook', dialect, mode, point, onFailure, transport, launcher });
      }),
    );
  });
}

function target(draft: Draft): Target {
  const { capability, dialect, transport, launcher } = draft;
  const carried = `${transport} ${launcher}`;
  if (capability !== 'hook') {
    const kind = `${capability} ${dialect}`;
    return { ...draft, kind, id: `${kind} ${carried}` };
  }
  const { mode, point, onFailure } = draft;
  const kind = [mode, point.name, dialect, ...(onFailure === null ? [] : ['on_failure: deny'])].join(' ');
  return { ...draft, kind, id: `${kind} ${carried}` };
}
