# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# Loaded by -r before each Ruby program: has the exception that ends the program told on the channel,
# in fields "name=value\0".
begin
  $LOADED_FEATURES.delete(__FILE__)
  channel = IO.for_fd(3, "wb", autoclose: false)
  channel.close_on_exec = true
  channel.sync = true
  process = Process.pid
  shortened = lambda do |text, most|
    text = text.to_s.b.tr("\0", " ")
    next text if text.bytesize <= most

    "#{text.byteslice(0, most / 2)} ... #{text.byteslice(-most / 2, most / 2)}"
  end
  # The first to be registered: the last to run.
  at_exit do
    error = $!
    next if error.nil? || error.is_a?(SystemExit) || Process.pid != process

    fields = { "type" => error.class.name, "message" => error.message }
    fields["traceback"] = error.full_message(highlight: false) if error.backtrace
    fields["module"] = error.path if error.is_a?(LoadError)
    if error.is_a?(SystemCallError)
      fields["errno"] = error.errno
      fields["path"] = error.message[/ @ \w+ - (.*)/m, 1]
    end
    fields.compact.each do |name, text|
      most = name == "traceback" ? 48 * 1024 : 4 * 1024
      channel.write("#{name}=".b, shortened.call(text, most), "\0")
    end
  rescue Exception
    nil # nobody listens, or it is the program's own code that failed
  end
rescue SystemCallError
  nil # there is no channel
end
