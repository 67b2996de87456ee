/**
 * What a guard costs an HTTP service: the same NestJS app on Fastify and on Express, unguarded and behind each guard, with 64 connections.
 *
 *   npm run bench:http             about 6 minutes; writes bench/results-http.md
 *   npm run bench:http -- --quick  about 90 seconds; writes nothing
 *
 * Each app is a process of its own, which starts this same bundle with APP in its environment.
 */
import 'reflect-metadata';
import { APP, serve } from './apps/serve';
import { benchHttp } from './bench-http';

if (process.env[APP] === undefined) await benchHttp({ isQuick: process.argv.includes('--quick') });
else await serve(process.env[APP]);
