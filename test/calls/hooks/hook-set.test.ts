import { expect, test } from 'vitest';
import { openGroup } from '../../../src/calls/hooks/group.ts';
import { createHookSet, namesOf, selectHooks } from '../../../src/calls/hooks/links.ts';
import { answers } from '../../../src/contract/hook.ts';
import { openPlayed } from './played.ts';
import { openPlayedGroup, point } from './played-group.ts';

const allow = answers.allow();

function openLinks() {
  const { filter, follower } = openPlayed();
  const { member, dialect, context, said } = openPlayedGroup({ P: point });
  const closed: string[] = [];
  const whole = openGroup(dialect, [member('x', allow), member('y', allow)], context);
  const group = {
    ...whole,
    restrict: (names: ReadonlySet<string>) => {
      const part = whole.restrict(names);
      return { ...part, close: async () => void closed.push([...names].join(' ')) };
    },
  };
  return { links: [filter('f', allow), { group }, follower('o')], said, closed };
}

test('hooks are named in the order of the file', () => {
  expect(namesOf(openLinks().links)).toEqual(['f', 'x', 'y', 'o']);
  expect(namesOf([])).toEqual([]);
});

test('some hooks form a separate chain, with the matching part of a group', async () => {
  const { links, closed } = openLinks();
  const select = (...names: string[]) => selectHooks(links, new Set(names));
  expect(namesOf(select('o', 'f').links)).toEqual(['f', 'o']);
  const whole = select('x', 'y');
  expect(whole.links).toEqual([links[1]]);
  await whole.close();
  expect(closed).toEqual([]);
  const part = select('y', 'f');
  expect(namesOf(part.links)).toEqual(['f', 'y']);
  await part.close();
  expect(closed).toEqual(['y f']);
  expect(select('nobody').links).toEqual([]);
});

test('a set covers and filters a phase if one of its hooks does', () => {
  const { filter, follower } = openPlayed();
  const { links } = openLinks();
  const still = { modifies: false };
  const at = (set: ReturnType<typeof createHookSet>) => [
    set.hears('before_execution'),
    set.filters('before_execution'),
  ];
  expect(at(createHookSet([]))).toEqual([false, false]);
  expect(at(createHookSet([follower('o')]))).toEqual([true, false]);
  expect(at(createHookSet([follower('o'), filter('f', allow)]))).toEqual([true, true]);
  expect(at(createHookSet([filter('f', allow, still), filter('g', allow, still)]))).toEqual([true, true]);
  expect(at(createHookSet(links.slice(1, 2)))).toEqual([true, true]);
  expect(createHookSet([filter('f', allow)]).hears('session_start')).toBe(false);
});
