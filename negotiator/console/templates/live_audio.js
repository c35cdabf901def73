// Turns the sound of a microphone (input 0) and of a shared tab (input 1) into 16-bit samples at 16 kHz, 100 ms apiece.
class Samples extends AudioWorkletProcessor {
  constructor() {
    super();
    this.ratio = sampleRate / 16000;
    this.inputs = [0, 1].map(() => ({ sum: 0, count: 0, due: this.ratio, made: new Int16Array(1600), length: 0 }));
  }

  // Each sample at 16 kHz is the mean of those it stands for.
  add(number, sample) {
    const one = this.inputs[number];
    one.sum += sample;
    one.count += 1;
    one.due -= 1;
    if (one.due > 0) return;
    const mean = Math.max(-1, Math.min(1, one.sum / one.count));
    one.made[one.length++] = mean < 0 ? mean * 32768 : mean * 32767;
    one.sum = one.count = 0;
    one.due += this.ratio;
    if (one.length < one.made.length) return;
    this.port.postMessage({ number, samples: one.made });
    one.length = 0;
  }

  process(inputs) {
    inputs.forEach((channels, number) => {
      if (!channels.length) return;
      for (let place = 0; place < channels[0].length; place++) {
        let sum = 0;
        for (const channel of channels) sum += channel[place];
        this.add(number, sum / channels.length);
      }
    });
    return true;
  }
}

registerProcessor("samples", Samples);
