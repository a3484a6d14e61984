import { enumOf, numberOrNull, textOf } from '../../sqlite/row.ts';
import { AGENT_SOURCE } from '../../store-rules.ts';
import type { DueFilter, DueRuns } from '../../suspension.ts';
import type { Link } from '../connection/client.ts';
import { withSuspensions } from '../reads.ts';
import { fromKept, toKeptOrNull } from '../rows.ts';

/** Runs that can be gone on with, and when the next one can be, by the clock of the database; the oldest first. */
export async function listDue(link: Link, { at, withFaults = false, id }: DueFilter): Promise<DueRuns> {
  const rows = await link.query({
    text: dueRuns,
    values: [at, withFaults, AGENT_SOURCE, toKeptOrNull(id ?? null)],
  });
  const [next] = await link.query({ text: nextDue, values: [at] });
  return {
    runs: rows.map((row) => ({
      id: textOf(fromKept(row), 'id'),
      why: enumOf(row, 'due', ['fault', 'wait', 'decided', 'running']),
    })),
    nextAt: numberOrNull(next ?? { at: null }, 'at') ?? undefined,
  };
}

const dueRuns = `SELECT id, due FROM (SELECT runs.seq, runs.id, CASE
      WHEN runs.status = 'running' THEN 'running'
      WHEN s.due_at <= signalbox.now_ms($1) OR ($2::boolean AND s.why = 'fault') THEN s.why
      WHEN (s.why IS NULL OR s.calls = 1)
        AND signalbox.has_call(runs.id, false) AND NOT signalbox.has_call(runs.id, true) THEN 'decided'
    END AS due
  FROM ${withSuspensions} WHERE runs.status IN ('running', 'pending') AND runs.source <> $3
    AND NOT EXISTS (SELECT 1 FROM signalbox.run_parents AS k WHERE k.id = runs.id) AND ($4::text IS NULL OR runs.id = $4)) AS found
  WHERE due IS NOT NULL ORDER BY seq`;

const nextDue = `SELECT min(at) AS at FROM (
  SELECT min(s.due_at) AS at FROM signalbox.suspensions AS s JOIN signalbox.runs AS r ON r.seq = s.run
    WHERE r.status = 'pending' AND s.due_at > signalbox.now_ms($1)
      AND NOT EXISTS (SELECT 1 FROM signalbox.run_parents AS k WHERE k.id = r.id)
  UNION ALL SELECT min(expires_at) FROM signalbox.pendings WHERE ruling IS NULL AND expires_at > signalbox.now_ms($1)) AS times`;
