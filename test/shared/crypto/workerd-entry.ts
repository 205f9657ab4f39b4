import { type ProbeInput, probe } from "./workerd-probe.ts";

export default {
  async fetch(request: Request): Promise<Response> {
    try {
      return Response.json(probe((await request.json()) as ProbeInput));
    } catch (error) {
      return new Response(String(error), { status: 500 });
    }
  },
};
