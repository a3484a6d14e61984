import { type Context, Hono } from 'hono';
import PQueue from 'p-queue';
import { RuntimeError } from '../../base/errors.ts';
import { stringifyJson } from '../../base/json/json.ts';
import { compareRuns } from '../../suites/compare/compare.ts';
import { renderComparisonHtml } from '../../suites/compare/render.ts';
import { detailOf, openServedHtml } from '../../suites/report/html/html.ts';
import { addressOfRun, renderRunsPage } from '../../suites/report/html/runs-page.ts';
import { replayReport } from '../../suites/report/replay-report.ts';
import { noEntry, refuseChange, refuseName, refuseVisit } from './access.ts';
import { readRatingBody } from './rating-body.ts';
import {
  entryPage,
  htmlReply,
  jsonReply,
  type Refusal,
  refusalDocument,
  refusalPage,
  toRefusal,
} from './replies.ts';
import type { Shelf, ShelvedRun } from './shelf.ts';
import { streamPage } from './streamed-page.ts';

export interface ViewContext {
  readonly shelf: Shelf;
  readonly token: string;
  /** Under whose name ratings are given until another is. */
  readonly userName: string;
}

/** The pages over runs. What is not among them is 404, and nothing of an address is ever a path of a file. */
export function createRoutes({ shelf, token, userName }: ViewContext): Hono {
  const app = new Hono();
  // One at a time: each holds what one side said of every case.
  const comparing = new PQueue({ concurrency: 1 });
  app.use(async ({ req }, next) => {
    const isPage = isPageRequest(req.raw);
    const refuse = isPage ? refusalPage : refusalDocument;
    const refusal = methodRefusal(req.method) ?? refuseName(req.raw);
    if (refusal !== undefined) return refuse(refusal);
    // No browser sends the token by itself: the script of this page does, whatever link or address has led here.
    if (isPage && req.raw.headers.get('authorization') === null) return entryPage(noEntry);
    const visit = refuseVisit(req.raw, token) ?? (req.method === 'GET' ? undefined : refuseChange(req.raw));
    return visit === undefined ? await next() : refuse(visit);
  });
  app.get('/', async ({ req }) => {
    const suite = req.query('suite') || undefined;
    return htmlReply(renderRunsPage(await shelf.page(suite, req.queries('after') ?? [])));
  });
  app.get('/compare', async ({ req }) => {
    const [a, b] = [await shelf.open(req.query('a') ?? ''), await shelf.open(req.query('b') ?? '')];
    const comparison = await comparing.add(async () => await compareRuns(a.source, b.source, {}));
    return htmlReply(renderComparisonHtml(comparison, { home: '/' }));
  });
  app.get('/runs/:id', async ({ req }) => {
    const id = req.param('id');
    const run = await shelf.open(id);
    return htmlReply(
      await streamPage(async (sink) => await replayReport(run.source, openPage(sink, id, run))),
    );
  });
  app.get('/runs/:id/case', async ({ req }) => {
    const { source } = await shelf.open(req.param('id'));
    const [number, variant] = [Number(req.query('number')), req.query('variant')];
    for await (const record of source.cases(req.query('id') ?? '')) {
      if (record.number !== number || record.variant !== variant) continue;
      const detail = detailOf(record);
      if (detail !== '') return jsonReply(detail);
    }
    throw new RuntimeError('NAME_UNKNOWN', 'the run has no such case, or it is too large to be shown', {
      hint: '`signalbox eval show RUN --case ID` has all of it.',
    });
  });
  app.post('/runs/:id/ratings', async ({ req }) => {
    const { runs } = await requireKept(req.param('id'));
    const rating = await runs.rate(req.param('id'), await readRatingBody(req.raw));
    return jsonReply(stringifyJson({ run_id: req.param('id'), rating }));
  });
  app.delete('/runs/:id/ratings', async ({ req }) => {
    const { runs } = await requireKept(req.param('id'));
    const place = await readRatingBody(req.raw);
    await runs.unrate(req.param('id'), place);
    return jsonReply(stringifyJson({ run_id: req.param('id'), removed: placeOf(place) }));
  });
  app.notFound(({ req }) => refuseAs(req.raw, notFound));
  app.onError((thrown, { req }: Context) => refuseAs(req.raw, toRefusal(thrown)));
  return app;

  function openPage(sink: Parameters<typeof openServedHtml>[0], id: string, { runs }: ShelvedRun) {
    const address = addressOfRun(id);
    return openServedHtml(sink, {
      ...{ home: '/', cases: `${address}/case`, ratings: runs === undefined ? null : `${address}/ratings` },
      ...{ token, by: userName },
    });
  }

  async function requireKept(id: string) {
    const { runs } = await shelf.open(id);
    if (runs !== undefined) return { runs };
    throw new RuntimeError('USAGE', 'a run of a file takes no ratings: they are kept with runs of a store');
  }
}

function placeOf({ case: id, variant, eval: evalId, by }: Awaited<ReturnType<typeof readRatingBody>>) {
  return { case: id, ...(variant !== undefined && { variant }), eval: evalId ?? null, by };
}

/** Whether a person waits for a page, rather than a page for data. */
function isPageRequest({ method, url }: Request): boolean {
  return method === 'GET' && !/\/(?:case|ratings)$/.test(new URL(url).pathname);
}

function refuseAs(request: Request, refusal: Refusal): Response {
  return isPageRequest(request) ? refusalPage(refusal, '/') : refusalDocument(refusal);
}

function methodRefusal(method: string): Refusal | undefined {
  return ['GET', 'POST', 'DELETE'].includes(method) ? undefined : wrongMethod;
}

const wrongMethod = {
  status: 405,
  code: 'method_not_allowed',
  message: 'There is no such method here',
  hint: '',
};
const notFound = { status: 404, code: 'not_found', message: 'There is no such page', hint: '' };
