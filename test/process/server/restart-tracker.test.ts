import { describe, expect, test } from 'vitest';
import { createRestartTracker, type RestartTracker } from '../../../src/process/server/server.ts';

const policy = { firstDelayMs: 100, maxDelayMs: 5_000, circuitDeaths: 5, circuitPauseMs: 30_000 };

/** A server's record, and a clock that stands still until it is told. */
function openRecord(over: Partial<typeof policy> = {}): RestartTracker & { pass(ms: number): void } {
  let now = 1_000;
  const restarts = createRestartTracker({ ...policy, ...over }, () => now);
  return Object.assign(Object.create(restarts), {
    pass: (ms: number) => {
      now += ms;
    },
  });
}

function die(restarts: RestartTracker, times: number): boolean[] {
  return Array.from({ length: times }, () => restarts.recordDeath());
}

describe('the pause before a start', () => {
  test('doubles from the second death on, up to a limit [PK-5-44@server PK-5-45@server]', () => {
    const restarts = openRecord({ circuitDeaths: 100 });
    const pauses = [restarts.startDelayMs()];
    for (let death = 0; death < 10; death++) {
      restarts.recordDeath();
      pauses.push(restarts.startDelayMs());
    }
    expect(pauses).toEqual([0, 0, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000]);
  });

  test('counts from the death, not from the call', () => {
    const restarts = openRecord();
    die(restarts, 3);
    restarts.pass(150);
    expect(restarts.startDelayMs()).toBe(50);
    restarts.pass(50);
    expect(restarts.startDelayMs()).toBe(0);
    restarts.pass(10_000);
    expect(restarts.startDelayMs()).toBe(0);
  });

  test('is as at first after a good reply [PK-5-49@server]', () => {
    const restarts = openRecord();
    die(restarts, 4);
    restarts.recordSuccess();
    expect([restarts.deaths, restarts.startDelayMs()]).toEqual([0, 0]);
    restarts.recordDeath();
    expect([restarts.deaths, restarts.startDelayMs()]).toEqual([1, 0]);
  });
});

describe('the circuit', () => {
  test('opens with the fifth death and not before [PK-5-47@server]', () => {
    const restarts = openRecord();
    expect(die(restarts, 4)).toEqual([false, false, false, false]);
    expect(restarts.admit()).toBe('admitted');
    expect(restarts.recordDeath()).toBe(true);
    expect(restarts.admit()).toBe('refused');
  });

  test('stays closed while good replies come between the deaths [PK-5-49@server]', () => {
    const restarts = openRecord();
    for (let round = 0; round < 20; round++) {
      die(restarts, 4);
      restarts.recordSuccess();
    }
    expect(restarts.admit()).toBe('admitted');
  });

  test('lets one call try after the pause, and no other beside it [PK-5-48@server]', () => {
    const restarts = openRecord();
    die(restarts, 5);
    restarts.pass(29_999);
    expect(restarts.admit()).toBe('refused');
    restarts.pass(1);
    expect([restarts.admit(), restarts.admit(), restarts.admit()]).toEqual(['trial', 'refused', 'refused']);
    expect(restarts.startDelayMs()).toBe(0);
  });

  test('closes with the good reply of that call [PK-5-48@server]', () => {
    const restarts = openRecord();
    die(restarts, 5);
    restarts.pass(30_000);
    restarts.admit();
    restarts.recordSuccess();
    restarts.trialFailed();
    expect([restarts.deaths, restarts.admit(), restarts.admit()]).toEqual([0, 'admitted', 'admitted']);
  });

  test('opens again with a death during that call, for a whole pause [PK-5-48@server]', () => {
    const restarts = openRecord();
    die(restarts, 5);
    restarts.pass(30_000);
    restarts.admit();
    restarts.pass(1_000);
    expect(restarts.recordDeath()).toBe(true);
    restarts.trialFailed();
    restarts.pass(29_999);
    expect(restarts.admit()).toBe('refused');
    restarts.pass(1);
    expect(restarts.admit()).toBe('trial');
  });

  test('opens again when that call comes to nothing though nothing died', () => {
    const restarts = openRecord();
    die(restarts, 5);
    restarts.pass(30_000);
    restarts.admit();
    restarts.trialFailed();
    expect(restarts.admit()).toBe('refused');
    restarts.pass(30_000);
    expect(restarts.admit()).toBe('trial');
  });

  test('lets the next call try at once when that call proved nothing, and opens with the next death', () => {
    const restarts = openRecord();
    die(restarts, 5);
    restarts.pass(30_000);
    restarts.admit();
    restarts.trialUndecided();
    restarts.trialFailed();
    expect([restarts.admit(), restarts.admit()]).toEqual(['trial', 'refused']);
    expect(restarts.recordDeath()).toBe(true);
    expect(restarts.admit()).toBe('refused');
  });

  test('closes with a good reply that comes to an earlier call', () => {
    const restarts = openRecord();
    die(restarts, 5);
    restarts.recordSuccess();
    expect(restarts.admit()).toBe('admitted');
  });
});
