"""The stages that a Spark session has run so far."""

import time


def stages(spark):
    """All stages of the application so far."""
    gateway = spark.sparkContext._gateway
    store = spark.sparkContext._jsc.sc().statusStore()
    empty = gateway.new_array(gateway.jvm.double, 0), gateway.jvm.java.util.ArrayList()
    found = store.stageList(gateway.jvm.java.util.ArrayList(), False, False, *empty)
    return [found.apply(at) for at in range(found.size())]


def last_stage(spark):
    return max((stage.stageId() for stage in stages(spark)), default=-1)


def shuffled_bytes(spark, after, stage_name):
    """The shuffle bytes written under a description, by all stages after the given one."""
    time.sleep(0.2)  # the status store is updated a moment after the end of a stage
    return sum(
        stage.shuffleWriteBytes()
        for stage in stages(spark)
        if stage.stageId() > after
        and stage.description().isDefined()
        and stage.description().get() == f"hopvec: {stage_name}"
    )
