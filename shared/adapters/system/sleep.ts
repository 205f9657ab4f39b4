/** Waits so many milliseconds, or until the signal; one that can be called off keeps no process alive. */
export function systemSleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const timer = setTimeout(resolve, ms);
    if (signal === undefined) return;
    // workerd's timers are numbers.
    (timer as { unref?: () => void }).unref?.();
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
