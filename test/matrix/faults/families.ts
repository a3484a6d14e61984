import { harmless, processClass } from '../ending.ts';
import type { Fault } from '../fault.ts';
import { misbehaving } from './misbehaving.ts';

const hang = processClass({ by: 'hang' });

/** Descendants of a process. Those that leave its group on purpose end within a second. */
export const families: readonly Fault[] = [
  misbehaving('family', 'leaves a child that holds its streams', {
    deed: ['asked', 'holder'],
    class: harmless,
  }),
  misbehaving('family', 'leaves a child that holds its stderr', {
    deed: ['asked', 'holder-stderr'],
    class: harmless,
  }),
  misbehaving('family', 'leaves a child that holds nothing', {
    deed: ['asked', 'quiet-holder'],
    class: harmless,
  }),
  misbehaving('family', 'leaves a daemon', { deed: ['asked', 'daemon'], class: harmless }),
  misbehaving('family', 'leaves a daemon that holds its streams', {
    deed: ['asked', 'daemon-holds'],
    class: harmless,
  }),
  misbehaving('family', 'hangs with five children', {
    deed: ['asked', 'children'],
    class: hang,
    isTimed: true,
  }),
  misbehaving('family', 'hangs with a child that is deaf to SIGTERM', {
    deed: ['asked', 'deaf-child'],
    class: hang,
    isTimed: true,
  }),
  misbehaving('family', 'hangs with a child that is stopped', {
    deed: ['asked', 'stopped-child'],
    class: hang,
    isTimed: true,
  }),
  misbehaving('family', 'hangs with five zombies', {
    deed: ['asked', 'zombies'],
    class: hang,
    isTimed: true,
  }),
  misbehaving('family', 'forks two hundred times, and hangs', {
    deed: ['asked', 'bomb', '200'],
    class: hang,
    isTimed: true,
    isHeavy: true,
  }),
  misbehaving('family', 'is twenty processes, each the child of one that has ended', {
    deed: ['before', 'chain', '20'],
    class: processClass({ by: 'quiet', isUnread: true }),
  }),
];
